// Tokens stay inside of fragments.
// RUN: mpmd_opt %s -mpmd-sink-create-token-into-fragments -split-input-file -verify-diagnostics | FileCheck %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// CHECK-LABEL: func.func @main
func.func @main(%t: !stablehlo.token, %a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: %0 = mpmd.fragment<mesh="m", origin=["f"]> (%arg1) {arg_attrs = [{jax.buffer_donor = true}], res_attrs = [{a = 1 : i64}]} (%arg2: tensor<8xf32>) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.create_token
  // CHECK-NEXT: "stablehlo.outfeed"(%arg2, %[[T]])
  // CHECK-NEXT: mpmd.return %arg2 : tensor<8xf32>
  %0:2 = mpmd.fragment<mesh="m", origin=["f"]> (%t, %a) {arg_attrs = [{}, {jax.buffer_donor = true}], res_attrs = [{}, {a = 1 : i64}]} (%u: !stablehlo.token, %x: tensor<8xf32>) {
    %1 = "stablehlo.outfeed"(%x, %u) : (tensor<8xf32>, !stablehlo.token) -> !stablehlo.token
    mpmd.return %1, %x : !stablehlo.token, tensor<8xf32>
  } : (!stablehlo.token, !m) -> (!stablehlo.token, !m)
  // CHECK: mpmd.fragment<mesh="m", origin=["g"]> (%0) (%arg2: tensor<8xf32>) {
  %2 = mpmd.fragment<mesh="m", origin=["g"]> (%0#0, %0#1) (%u: !stablehlo.token, %x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!stablehlo.token, !m) -> !m
  return %2 : !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) -> !stablehlo.token attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.fragment' op has a token, result 0, that something but a fragment uses}}
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %1 = stablehlo.create_token : !stablehlo.token
    mpmd.return %1 : !stablehlo.token
  } : (!m) -> !stablehlo.token
  return %0 : !stablehlo.token
}
