// Backward fragments compute what is transferred first; fragments do first what waits for nothing.
// RUN: mpmd_opt %s -mpmd-split-bwd-fragments -mpmd-fragment-dedup -canonicalize -mpmd-fragment-dce | FileCheck %s
// RUN: mpmd_opt %s -mpmd-split-and-prioritize-transfer-independent-computations -mpmd-fragment-dedup -canonicalize -mpmd-fragment-dce | FileCheck --check-prefix=LATE %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8xf32>>
!p = !mpmd.mesh_tensor<"m", tensor<i1>>

// What the second half needs of the first is handed on; what nobody uses, yet has an effect, goes
// with the second and gets what it needs.
// CHECK-LABEL: func.func @backward
// CHECK-NEXT: %0:2 = mpmd.fragment<mesh="m", origin=["f"(1)], stage=1> (%arg0) {split_keep_transferred} (%arg2: tensor<8xf32>) {
// CHECK-NEXT:   %3 = stablehlo.negate %arg2
// CHECK-NEXT:   %4 = stablehlo.sine %3
// CHECK-NEXT:   mpmd.return %4, %3
// CHECK-NEXT: }
// CHECK-NEXT: %1 = mpmd.fragment<mesh="m", origin=["f"(1)], stage=1> (%arg1, %0#1, %0#0) {split_drop_transferred} (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>) {
// CHECK-NEXT:   %3 = stablehlo.add %arg3, %arg2
// CHECK-NEXT:   stablehlo.custom_call @effect(%arg4)
// CHECK-NEXT:   mpmd.return %3
// CHECK-NEXT: }
// CHECK-NEXT: %2 = mpmd.transfer %0#0
// CHECK-NEXT: return %2, %1
func.func @backward(%a: !m, %b: !m) -> (!n, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0:2 = mpmd.fragment<mesh="m", origin=["f"(1)], stage=1> (%a, %b) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %1 = stablehlo.negate %x : tensor<8xf32>
    %2 = stablehlo.sine %1 : tensor<8xf32>
    %3 = stablehlo.add %1, %y : tensor<8xf32>
    %4 = stablehlo.custom_call @effect(%2) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %2, %3 : tensor<8xf32>, tensor<8xf32>
  } : (!m, !m) -> (!m, !m)
  %5 = mpmd.transfer %0#0 : (!m) -> !n
  return %5, %0#1 : !n, !m
}

// Used inside of an op is used by the op.
// CHECK-LABEL: func.func @late
// CHECK-NEXT: mpmd.transfer
// CHECK-NEXT: %1:2 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0, %0, %arg2)
// LATE-LABEL: func.func @late
// LATE-NEXT: %0 = mpmd.transfer %arg1
// LATE-NEXT: %1 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0) {split_keep_transferred}
// LATE-NEXT:   stablehlo.negate
// LATE-NEXT:   return
// LATE-NEXT: }
// LATE-NEXT: %2 = mpmd.fragment<mesh="m", origin=["f"]> (%1, %0, %arg2) {split_drop_transferred} (%arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<i1>) {
// LATE-NEXT:   %3 = "stablehlo.if"(%arg5) ({
// LATE-NEXT:     stablehlo.return %arg4
// LATE-NEXT:   }, {
// LATE-NEXT:     stablehlo.return %arg3
// LATE:        mpmd.return %3
// LATE-NEXT: }
// LATE-NEXT: return %1, %2
func.func @late(%a: !m, %b: !n, %c: !p) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.transfer %b : (!n) -> !m
  %1:2 = mpmd.fragment<mesh="m", origin=["f"]> (%a, %0, %c) (%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<i1>) {
    %2 = stablehlo.negate %x : tensor<8xf32>
    %3 = "stablehlo.if"(%z) ({
      stablehlo.return %y : tensor<8xf32>
    }, {
      stablehlo.return %2 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    mpmd.return %2, %3 : tensor<8xf32>, tensor<8xf32>
  } : (!m, !m, !p) -> (!m, !m)
  return %1#0, %1#1 : !m, !m
}
