// The user's fragments become units of one call, stage and transpose count; and a forward one and
// the backward one right behind it become one.
// RUN: mpmd_opt %s -mpmd-merge-user-fragments-into-scheduling-units -split-input-file -verify-diagnostics | FileCheck %s
// RUN: mpmd_opt %s -mpmd-merge-forward-with-backward -split-input-file | FileCheck --check-prefix=TURN %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// CHECK-LABEL: func.func @units
// CHECK-NEXT: %0 = mpmd.fragment<mesh="m", origin=["f", "g"]> (%arg0) {call_counter = 1 : ui32}
// CHECK: %1 = mpmd.fragment<mesh="m", origin=["f"(1)]> (%0) {call_counter = 1 : ui32}
// CHECK: %2 = mpmd.fragment<mesh="m", origin=["f"(1)]> (%1) {call_counter = 2 : ui32}
// CHECK: return %2
// TURN-LABEL: func.func @units
// TURN-NEXT: %0 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0)
// TURN: %1 = mpmd.fragment<mesh="m", origin=["g", "f"(1)]> (%0) {call_counter = 1 : ui32}
// TURN: %2 = mpmd.fragment<mesh="m", origin=["f"(1)]> (%1) {call_counter = 2 : ui32}
func.func @units(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["g"]> (%0) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["f"(1)]> (%1) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %3 = mpmd.fragment<mesh="m", origin=["f"(1)]> (%2) {call_counter = 2 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %3 : !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

func.func @counts(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{Expected one and only one transpose count for a user-defined producer op.}}
  %0 = mpmd.fragment<mesh="m", origin=["f", "g"(1)]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["g"]> (%0) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %1 : !m
}
