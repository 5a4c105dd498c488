// Transfers stand right behind what they transfer; meshes that lack fragments are warned of.
// RUN: mpmd_opt %s -mpmd-move-transfers-to-producer | FileCheck %s
// RUN: mpmd_opt %s -mpmd-scheduling-units-verifier -verify-diagnostics

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8xf32>>
#t = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>, <"h/cpu": <["x"=2]>>>

// CHECK-LABEL: func.func @f
// CHECK-NEXT: mpmd.transfer %arg1
// CHECK-NEXT: mpmd.transfer %arg0
// CHECK-NEXT: mpmd.fragment
// CHECK: mpmd.transfer %2
// CHECK-NEXT: mpmd.fragment
// expected-warning@+4 {{Number of backward scheduling units in mesh m does not match expected number for 2 microbatches. Got 1.}}
// expected-warning@+3 {{Number of forward scheduling units in mesh m does not match expected number for 2 microbatches. Got 1.}}
// expected-warning@+2 {{Number of forward scheduling units in mesh n does not match expected number for 2 microbatches. Got 0.}}
// expected-warning@+1 {{Number of backward scheduling units in mesh n does not match expected number for 2 microbatches. Got 0.}}
func.func @f(%a: !m, %b: !n) -> (!m, !m, !n, !n) attributes {topology = #t} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {call_counter = 2 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["f"(1)]> (%0) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.transfer %0 : (!m) -> !n
  %3 = mpmd.transfer %a : (!m) -> !n
  %4 = mpmd.transfer %b : (!n) -> !m
  return %1, %4, %2, %3 : !m, !m, !n, !n
}

// Nothing in it is of a call.
func.func @init(%a: !m) -> !m attributes {topology = #t} {
  return %a : !m
}
