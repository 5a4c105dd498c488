// An argument and a result that are to be on one mesh; what the option may say.
// RUN: mpmd_opt %s -mpmd-infer-mesh-assign-using-input-output-constraints='constraints=1:0' | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-infer-mesh-assign-using-input-output-constraints='constraints=1:x' 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not mpmd_opt %s -mpmd-infer-mesh-assign-using-input-output-constraints='constraints=0:0,2:0' 2>&1 | FileCheck %s --check-prefix=FAR

// CHECK: func.func @main(%arg0: tensor<8xf32>, %arg1: !mpmd.mesh_tensor<"m2", tensor<8xf32>>
// CHECK-NEXT: %0 = mpmd.unassign {origin = "io_constraint_in"} %arg1
// CHECK-NEXT: %1 = stablehlo.sine %0
// CHECK-NEXT: %2 = mpmd.assign {origin = "io_constraint_out"} %1 {{.*}} -> !mpmd.mesh_tensor<"m2", tensor<8xf32>>
// CHECK-NEXT: return %2
// WORD: Failed to parse output index: x
// FAR: has no argument 2 or no result 0
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m2", "m3">}) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>} {
  %0 = stablehlo.sine %b {mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
