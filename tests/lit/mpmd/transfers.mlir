// Transfers that come back, that stand far from what they transfer, and that carry constants.
// RUN: mpmd_opt %s -mpmd-remove-transfer-cycles | FileCheck --check-prefix=CYCLE %s
// RUN: mpmd_opt %s -mpmd-move-transfers-to-producer | FileCheck --check-prefix=MOVE %s
// RUN: mpmd_opt %s -mpmd-copy-constants | FileCheck --check-prefix=COPY %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8xf32>>
!host = !mpmd.mesh_tensor<"n", tensor<8xf32>, memory_kind="pinned_host">

// What was on the host in between stays.
// CYCLE-LABEL: func.func @back
// CYCLE-NEXT: %0 = mpmd.transfer %arg0
// CYCLE-NEXT: %1 = mpmd.transfer %arg0 : {{.*}} memory_kind="pinned_host"
// CYCLE-NEXT: %2 = mpmd.transfer %1
// CYCLE-NEXT: return %arg0, %0, %2
// MOVE-LABEL: func.func @back
// MOVE-NEXT: mpmd.transfer %arg0 : {{.*}} memory_kind="pinned_host"
// MOVE-NEXT: mpmd.transfer %0
// MOVE-NEXT: mpmd.transfer %arg0
func.func @back(%a: !m) -> (!m, !n, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m) -> !n
  %1 = mpmd.transfer %0 : (!n) -> !m
  %2 = mpmd.transfer %1 : (!m) -> !n
  %3 = mpmd.transfer %a : (!m) -> !host
  %4 = mpmd.transfer %3 : (!host) -> !m
  return %1, %2, %4 : !m, !n, !m
}

// COPY-LABEL: func.func @constants
// COPY: mpmd.fragment<mesh="n", origin=["g"]> (%1, %2)
// COPY-NEXT: stablehlo.constant dense<1.000000e+00>
// COPY-NEXT: stablehlo.add %cst, %arg2
func.func @constants(%a: !m) -> !n attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0:2 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %s = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %c, %s : tensor<8xf32>, tensor<8xf32>
  } : (!m) -> (!m, !m)
  %1 = mpmd.transfer %0#0 : (!m) -> !n
  %2 = mpmd.transfer %0#1 : (!m) -> !n
  %3 = mpmd.fragment<mesh="n", origin=["g"]> (%1, %2) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %s = stablehlo.add %x, %y : tensor<8xf32>
    mpmd.return %s : tensor<8xf32>
  } : (!n, !n) -> !n
  return %3 : !n
}
