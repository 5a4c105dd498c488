// Source sets: meshes that all operands can be on; a sum of what no mesh has could be a reduction.
// RUN: mpmd_opt %s -mpmd-infer-mesh-populate-src-set | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @meet
// CHECK: mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["a"]>, origin = "a"}
// CHECK: stablehlo.multiply %1, %arg1 {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["a", "inferred_in"]>}
// CHECK: stablehlo.divide %1, %2 {mpmd.src_set = #mpmd.meshes_with_origins<>}
// CHECK: stablehlo.add %1, %2 {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1"["a"], "m2">}
// CHECK: stablehlo.sine %arg2 : tensor<8xf32>
func.func @meet(%a: !m1, %b: tensor<8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["p"], "m2">}, %c: tensor<8xf32>, %d: !m2) attributes {topology = #topology} {
  %f = mpmd.fragment<mesh="m1", origin=[]> (%a) (%x: tensor<8xf32>) {
    %y = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m1) -> !m1
  %0 = mpmd.unassign {origin = "a"} %f : (!m1) -> tensor<8xf32>
  %1 = mpmd.unassign %d : (!m2) -> tensor<8xf32>
  %2 = stablehlo.multiply %0, %b : tensor<8xf32>
  %3 = stablehlo.divide %0, %1 : tensor<8xf32>
  %4 = stablehlo.add %0, %1 : tensor<8xf32>
  %5 = stablehlo.sine %c : tensor<8xf32>
  return
}
