// A fragment that uses a value last may have its memory: for a result of that type, or any.
// RUN: mpmd_opt %s -mpmd-mark-aliasing-and-donation | FileCheck %s --implicit-check-not=arg_attrs

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!k = !mpmd.mesh_tensor<"m", tensor<2xf32>>

// CHECK-LABEL: func.func @main
func.func @main(%a: !m, %b: !m {tf.aliasing_output = 1 : i32}, %c: !m {jax.buffer_donor = true}) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // %arg1 is used again.
  // CHECK: mpmd.fragment{{.*}} (%arg1, %arg0) (%arg3:
  %0:2 = mpmd.fragment<mesh="m", origin=["f"]> (%b, %a) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %1 = stablehlo.slice %x [0:2] : (tensor<8xf32>) -> tensor<2xf32>
    mpmd.return %x, %1 : tensor<8xf32>, tensor<2xf32>
  } : (!m, !m) -> (!m, !k)
  // The user keeps %arg0, and has @main's second result in the memory of %arg1.
  // CHECK: mpmd.fragment{{.*}} {arg_attrs = [{tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {jax.buffer_donor = true}, {}, {jax.buffer_donor = true}]}
  %1:2 = mpmd.fragment<mesh="m", origin=["g"]> (%0#0, %b, %0#1, %a, %c) (%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<2xf32>, %u: tensor<8xf32>, %v: tensor<8xf32>) {
    mpmd.return %x, %y : tensor<8xf32>, tensor<8xf32>
  } : (!m, !m, !k, !m, !m) -> (!m, !m)
  return %1#0, %1#1 : !m, !m
}

// What is transferred may still be read.
// CHECK-LABEL: func.func @transferred
func.func @transferred(%a: !m {tf.aliasing_output = 0 : i32}) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m) -> !m
  // CHECK: mpmd.fragment{{.*}} (%arg0) (%arg1:
  %1 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %0, %1 : !m, !m
}
