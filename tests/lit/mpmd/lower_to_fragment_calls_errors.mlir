// Fragments that cannot become calls.
// RUN: mpmd_opt %s -mpmd-lower-to-fragment-calls -split-input-file -verify-diagnostics

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @"p0_f.main"(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func @taken(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.fragment' op would become @p0_f.main, which there is already}}
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %0 : !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @too_many(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{'mpmd.fragment' op has 2 dictionaries in 'arg_attrs', but needs 1}}
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {arg_attrs = [{}, {}]} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %0 : !m
}
