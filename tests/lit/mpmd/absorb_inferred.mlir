// What was inferred goes into what the user named, and says what that said.
// RUN: mpmd_opt %s -mpmd-absorb-inferred-fragments | FileCheck %s
// RUN: mpmd_opt %s -mpmd-absorb-inferred-fragments=absorb-on-entry-point-function=true | FileCheck --check-prefix=ENTRY %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8xf32>>

// The transfer stands in the way of the fragment in front and moves to its user; the one that the
// fragment behind waits for moves to the front.
// CHECK-LABEL: func.func private @both_sides
// CHECK-NEXT: %0 = mpmd.transfer %arg1
// CHECK-NEXT: %1:2 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0, %0) {call_counter = 2 : ui32} (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
// CHECK-NEXT:   %3 = stablehlo.negate %arg2
// CHECK-NEXT:   %4 = stablehlo.sine %3
// CHECK-NEXT:   %5 = stablehlo.add %4, %arg3
// CHECK-NEXT:   mpmd.return %3, %5
// CHECK-NEXT: }
// CHECK-NEXT: %2 = mpmd.transfer %1#0
// CHECK-NEXT: return %1#1, %2
func.func private @both_sides(%a: !m, %b: !n) -> (!m, !n) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=[]> (%a) {mpmd.inferred_by = ["pass"]} (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.transfer %0 : (!m) -> !n
  %2 = mpmd.fragment<mesh="m", origin=["f"]> (%0) {call_counter = 2 : ui32} (%x: tensor<8xf32>) {
    %y = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %3 = mpmd.transfer %b : (!n) -> !m
  %4 = mpmd.fragment<mesh="m", origin=[]> (%2, %3) {call_counter = 5 : ui32} (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %z = stablehlo.add %x, %y : tensor<8xf32>
    mpmd.return %z : tensor<8xf32>
  } : (!m, !m) -> !m
  return %4, %1 : !m, !n
}

// CHECK-LABEL: func.func @entry
// CHECK-COUNT-2: mpmd.fragment<
// ENTRY-LABEL: func.func @entry
// ENTRY-NEXT: mpmd.fragment<mesh="m", origin=["f"]>
// ENTRY-NOT: mpmd.fragment<
func.func @entry(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=[]> (%0) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %1 : !m
}
