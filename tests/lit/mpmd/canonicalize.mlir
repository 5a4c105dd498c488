// Transfers that do nothing, fragments that pass values on, reductions of reductions.
// RUN: mpmd_opt %s -canonicalize | FileCheck %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!cut = !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>

// CHECK-LABEL: func.func @transfers
// CHECK-NEXT: %0 = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>
// CHECK-NEXT: return %arg0, %0
func.func @transfers(%a: !m) -> (!m, !cut) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m) -> !m
  %1 = mpmd.transfer %0 : (!m) -> !cut
  %2 = mpmd.transfer %1 : (!cut) -> !cut
  return %0, %2 : !m, !cut
}

// CHECK-LABEL: func.func @through
// CHECK: return %arg0, %0#0
func.func @through(%a: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0:2 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y, %x : tensor<8xf32>, tensor<8xf32>
  } : (!m) -> (!m, !m)
  return %0#1, %0#0 : !m, !m
}

// CHECK-LABEL: func.func @broadcasts
// CHECK-NEXT: %0 = mpmd.broadcast %arg0
// CHECK-NEXT: %1 = mpmd.reduce<add> %0, %arg0
// CHECK-NEXT: return %1
func.func @broadcasts(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.broadcast %a : tensor<8xf32>
  %1 = mpmd.broadcast %0 : tensor<8xf32>
  %2 = mpmd.reduce<add> %1, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = mpmd.reduce<none> %2 : (tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
