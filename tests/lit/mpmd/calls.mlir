// Calls become bodies, whose fragments get the counter of the call; locations say by whom.
// RUN: mpmd_opt %s -mpmd-unroll-for-loops -mpmd-from-unroll-to-call-counter -mpmd-call-inline -symbol-dce | FileCheck %s
// RUN: mpmd_opt %s -mpmd-call-inline -mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
#t = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func.func @loop
// CHECK-NEXT: stablehlo.constant {unroll_counter = 0 : ui32} dense<0>
// CHECK-NEXT: %[[A:.*]] = mpmd.fragment<mesh="m", origin=["f"]> (%arg0) {call_counter = 0 : ui32}
// CHECK: stablehlo.constant {unroll_counter = 1 : ui32} dense<1>
// CHECK-NEXT: %[[B:.*]] = mpmd.fragment<mesh="m", origin=["f"]> (%[[A]]) {call_counter = 1 : ui32}
// CHECK: return %[[B]]
// LOC: mpmd.fragment
// LOC: } {{.*}} loc(#[[AT:.*]])
// LOC: #[[BODY:.*]] = loc("body")
// LOC: #[[CALL:.*]] = loc("call")
// LOC: #[[AT]] = loc(callsite(#[[BODY]] at #[[CALL]]))
func.func @loop(%a: !m) -> !m attributes {topology = #t} {
  %0 = mpmd.for (%a) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%x: !m, %i: tensor<ui32>) {
    %1 = mpmd.call @f(%x) : (!m) -> !m loc("call")
    mpmd.return %1 : !m
  } : !m
  return %0 : !m
}

// CHECK-NOT: @f
func.func private @f(%a: !m) -> !m attributes {topology = #t} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %1 = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (!m) -> !m loc("body")
  return %0 : !m
}
