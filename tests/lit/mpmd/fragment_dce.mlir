// Fragments lose what nobody uses, and what comes twice is used once.
// RUN: mpmd_opt %s -mpmd-fragment-dce | FileCheck %s
// RUN: mpmd_opt %s -mpmd-fragment-dedup | FileCheck --check-prefix=DEDUP %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8xf32>>

// A use that goes may be the last of a transfer, of its fragment, and so on; effects stay.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: %0 = mpmd.fragment<mesh="m", origin=["h"], stage=2> (%arg1) {call_counter = 1 : ui32} (%arg2: tensor<8xf32>) {
// CHECK-NEXT:   stablehlo.custom_call @effect(%arg2)
// CHECK-NEXT:   %2 = stablehlo.negate %arg2
// CHECK-NEXT:   mpmd.return %2
// CHECK-NEXT: }
// CHECK-NEXT: return %0
// DEDUP-LABEL: func.func @unused
// DEDUP-COUNT-3: mpmd.fragment<
func.func @unused(%a: !m, %b: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.transfer %0 : (!m) -> !n
  %2 = mpmd.fragment<mesh="n", origin=["g"]> (%1) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!n) -> !n
  %3 = mpmd.transfer %2 : (!n) -> !m
  %4:2 = mpmd.fragment<mesh="m", origin=["h"], stage=2> (%3, %b) {call_counter = 1 : ui32} (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %s = stablehlo.add %x, %y : tensor<8xf32>
    %c = stablehlo.custom_call @effect(%y) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
    %d = stablehlo.negate %y : tensor<8xf32>
    mpmd.return %s, %d : tensor<8xf32>, tensor<8xf32>
  } : (!m, !m) -> (!m, !m)
  return %4#1 : !m
}

// The third result has a type of its own.
// CHECK-LABEL: func.func @twice
// CHECK: return %0#0, %0#1, %0#2
// DEDUP-LABEL: func.func @twice
// DEDUP-NEXT: %0:3 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0, %arg0)
// DEDUP-NEXT:   %1 = stablehlo.add %arg1, %arg1
// DEDUP: return %0#0, %0#0, %0#2
func.func @twice(%a: !m) -> (!m, !m, !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0:3 = mpmd.fragment<mesh="m", origin=["f"]> (%a, %a) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %s = stablehlo.add %x, %y : tensor<8xf32>
    mpmd.return %s, %s, %s : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (!m, !m) -> (!m, !m, !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>)
  return %0#0, %0#1, %0#2 : !m, !m, !mpmd.mesh_tensor<"m", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>
}
