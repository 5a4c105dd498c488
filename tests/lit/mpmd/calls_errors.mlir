// Loops that cannot be unrolled, calls that cannot be inlined.
// RUN: mpmd_opt %s -split-input-file -verify-diagnostics -mpmd-unroll-for-loops -mpmd-call-inline

func.func @part(%a: tensor<f32>) -> tensor<f32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error @+1 {{the unroll factor is required to be the same as the number of iterations}}
  %0 = mpmd.for (%a) {iterations = 4 : ui32, unroll_factor = 2 : ui32} (%x: tensor<f32>, %i: tensor<ui32>) {
    mpmd.return %x : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @nested(%a: tensor<f32>) -> tensor<f32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.for (%a) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%x: tensor<f32>, %i: tensor<ui32>) {
    // expected-error @+1 {{Nested fori loops aren't supported. Please contact OWNERs if you need this feature.}}
    %1 = mpmd.for (%x) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%y: tensor<f32>, %k: tensor<ui32>) {
      mpmd.return %y : tensor<f32>
    } : tensor<f32>
    mpmd.return %1 : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @long(%a: tensor<f32>) -> tensor<f32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error @+1 {{ops once loops are unrolled}}
  %0 = mpmd.for (%a) {iterations = 4000000000 : ui32, unroll_factor = 4000000000 : ui32} (%x: tensor<f32>, %i: tensor<ui32>) {
    %1 = stablehlo.negate %x : tensor<f32>
    mpmd.return %1 : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func private @f(%a: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{failed to inline 'f'}}
  %0 = mpmd.call @f(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
