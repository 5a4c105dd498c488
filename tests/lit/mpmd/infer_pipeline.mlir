// A program whose parts have meshes: all of it gets one, with or without transfers of its own.
// RUN: mpmd_opt %s -mpmd-infer-mesh-pipeline='infer-transfers=true' | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-infer-mesh-pipeline 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: Mesh assignment is not possible for op as its operands are on conflicting meshes

!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: !mpmd.mesh_tensor<"m1", tensor<8xf32>>, %arg1: !mpmd.mesh_tensor<"m2", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
// CHECK: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0)
// CHECK: %[[G:.*]] = mpmd.fragment<mesh="m2", origin=["g"]> (%arg1)
// CHECK: %[[T:.*]] = mpmd.transfer %[[G]] : {{.*}} -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
// CHECK: %[[D:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%[[F]], %[[T]])
// CHECK-NEXT: stablehlo.divide
// CHECK: return %[[D]]
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.assign {origin = "f"} %a : (tensor<8xf32>) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["f"]> (%0) (%x: tensor<8xf32>) {
    %y = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m1) -> !m1
  %2 = mpmd.assign {origin = "g"} %b : (tensor<8xf32>) -> !m2
  %3 = mpmd.fragment<mesh="m2", origin=["g"]> (%2) (%x: tensor<8xf32>) {
    %y = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m2) -> !m2
  %4 = mpmd.unassign {origin = "f"} %1 : (!m1) -> tensor<8xf32>
  %5 = mpmd.unassign {origin = "g"} %3 : (!m2) -> tensor<8xf32>
  %6 = stablehlo.divide %4, %5 : tensor<8xf32>
  return %6 : tensor<8xf32>
}
