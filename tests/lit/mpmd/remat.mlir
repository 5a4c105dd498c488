// A forward fragment runs once more for each backward one that uses it and is not right behind it.
// RUN: mpmd_opt %s -mpmd-remat-fragment | FileCheck %s
// RUN: mpmd_opt %s -mpmd-remat-fragment=merge-remat-fragments | FileCheck %s --check-prefix=MERGE

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// CHECK-LABEL: func.func @f
// CHECK-NEXT: %0 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0) {call_counter = 3 : ui32} (
// CHECK: %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0) {call_counter = 4 : ui32} (
// CHECK: %[[AGAIN:.*]] = mpmd.fragment<mesh="m", origin=["f"]> (%arg0) {call_counter = 3 : ui32, remat} (
// CHECK: %[[B:.*]] = mpmd.fragment<mesh="m", origin=["b"(1)]> (%[[AGAIN]], %[[AGAIN]]) {call_counter = 3 : ui32} (
// CHECK: %[[C:.*]] = mpmd.fragment<mesh="m", origin=["b"(1)]> (%1) {call_counter = 3 : ui32} (
// CHECK: return %[[B]], %[[C]]
// MERGE: %[[B:.*]] = mpmd.fragment<mesh="m", origin=["f", "b"(1)]> (%arg0) {call_counter = 3 : ui32, remat} (
// MERGE-NEXT: stablehlo.negate
// MERGE-NEXT: stablehlo.multiply
// MERGE-NEXT: mpmd.return
func.func @f(%a: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {call_counter = 3 : ui32} (%x: tensor<8xf32>) {
    %9 = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %9 : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0) {call_counter = 4 : ui32} (%x: tensor<8xf32>) {
    %9 = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %9 : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["b"(1)]> (%0, %0) {call_counter = 3 : ui32} (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %9 = stablehlo.multiply %x, %y : tensor<8xf32>
    mpmd.return %9 : tensor<8xf32>
  } : (!m, !m) -> !m
  %3 = mpmd.fragment<mesh="m", origin=["b"(1)]> (%1) {call_counter = 3 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %2, %3 : !m, !m
}
