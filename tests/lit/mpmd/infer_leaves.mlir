// Results, unused values, and what is broadcast get a mesh that they can be on.
// RUN: mpmd_opt %s -mpmd-infer-mesh-assign-mesh-func-leaves | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-infer-mesh-assign-mesh-func-leaves='error-limit=0' 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error-limit must not be 0

#topology = #mpmd.topology<<"m2": <["x"=2]>>, <"m1": <["x"=2]>>>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32>, %arg1: !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
// CHECK-NEXT: %0 = stablehlo.sine %arg0 {mpmd.src_set
// CHECK-NEXT: mpmd.assign {origin = "inferred_unused"} %0 {{.*}} -> !mpmd.mesh_tensor<"m2"
// CHECK-NEXT: %2 = mpmd.assign {origin = "broadcast"} %arg0
// CHECK-NEXT: %3 = mpmd.unassign %2
// CHECK-NEXT: %4 = mpmd.broadcast %3
// CHECK-NEXT: %5 = stablehlo.cosine %4
// CHECK-NEXT: %6 = mpmd.assign {origin = "inferred_out"} %5 {{.*}} -> !mpmd.mesh_tensor<"m1"
// CHECK-NEXT: return %6
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.sine %a {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} : tensor<8xf32>
  %1 = mpmd.broadcast %a : tensor<8xf32>
  %2 = stablehlo.cosine %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
