// Fragments that nobody named, and transfers from the host, run when somebody needs them.
// RUN: mpmd_opt %s -mpmd-delay-inferred-fragments | FileCheck %s --check-prefix=FRAGMENTS
// RUN: mpmd_opt %s -mpmd-delay-transfers-from-cpu | FileCheck %s --check-prefix=TRANSFERS

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!cpu = !mpmd.mesh_tensor<"m/cpu", tensor<8xf32>>
!host = !mpmd.mesh_tensor<"m", tensor<8xf32>, memory_kind="pinned_host">

// FRAGMENTS: transfer
// FRAGMENTS-NEXT: transfer
// FRAGMENTS-NEXT: origin=["f"]
// FRAGMENTS: %[[F:.*]] = mpmd.fragment<mesh="m", origin=[]> (%arg0)
// FRAGMENTS: origin=[]> (%[[F]])
// FRAGMENTS: return
// FRAGMENTS-LABEL: func.func private @inner
// FRAGMENTS: origin=[]>
// FRAGMENTS: origin=["g"]>
// TRANSFERS: origin=[]> (%arg0)
// TRANSFERS: origin=[]>
// TRANSFERS: mpmd.transfer %arg1
// TRANSFERS-NEXT: origin=["f"]
// TRANSFERS: mpmd.transfer %arg2
// TRANSFERS-NEXT: return
func.func @main(%a: !m, %b: !cpu, %c: !host) -> (!m, !m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"m/cpu": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=[]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=[]> (%0) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.transfer %b : (!cpu) -> !m
  %3 = mpmd.transfer %c : (!host) -> !m
  %4 = mpmd.fragment<mesh="m", origin=["f"]> (%2) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %1, %3, %4 : !m, !m, !m
}

// Nobody enters here.
func.func private @inner(%a: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=[]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["g"]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %0, %1 : !m, !m
}
