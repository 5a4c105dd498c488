// Ops that cannot be on any mesh, or not where they are used; the first of a chain is named.
// RUN: mpmd_opt %s -mpmd-infer-mesh-validate-src-set-not-empty -split-input-file -verify-diagnostics
// RUN: not mpmd_opt %s -mpmd-infer-mesh-validate-no-additional-transfers-needed -split-input-file 2>&1 | FileCheck %s

func.func @nowhere(%a: tensor<8xf32>, %b: tensor<8xf32>) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-error @+1 {{Mesh assignment is not possible for op as its operands are on conflicting meshes}}
  %0 = stablehlo.divide %a, %b {mpmd.src_set = #mpmd.meshes_with_origins<>} : tensor<8xf32>
  %1 = stablehlo.sine %0 {mpmd.src_set = #mpmd.meshes_with_origins<>} : tensor<8xf32>
  return
}

// -----

// CHECK: error: Mesh assignment is not possible for op as it is used in {m1} but it can only be placed on {m2} without introducing a transfer.
// CHECK: Op:
// CHECK-NEXT: stablehlo.sine
// CHECK: Can be assigned to meshes: {m2} which originates from the intersection of:
// CHECK-NEXT: - Input "a": m2[p]
// CHECK: But was used in meshes: {m1} which originates from the union of:
// CHECK-NEXT: - Output {{.*}}: m1[q]
// CHECK-NOT: error:
func.func @elsewhere(%a: tensor<8xf32> {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["p"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m1"["q"]>} loc("a")) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = stablehlo.sine %a {mpmd.src_set = #mpmd.meshes_with_origins<"m2"["p"]>, mpmd.use_set = #mpmd.meshes_with_origins<"m1"["q"]>} : tensor<8xf32>
  %1 = mpmd.assign {origin = "q"} %0 : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  return %1 : !mpmd.mesh_tensor<"m1", tensor<8xf32>>
}
