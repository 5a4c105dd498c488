// RUN: not stablehlo-translate --interpret -split-input-file %s 2>&1 | FileCheck %s

// CHECK: fails.mlir:[[@LINE+8]]:3: error: check.expect_eq: Element values don't match: 4 (actual) vs 5 (expected) at index [1, 1]
module {
  func.func @main() {
    %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    call @inner(%a) : (tensor<2x2xi64>) -> ()
    return
  }
  func.func private @inner(%a: tensor<2x2xi64>) {
  check.expect_eq_const %a, dense<[[1, 2], [3, 5]]> : tensor<2x2xi64>
    return
  }
}

// -----

// CHECK: error: check.expect_close: Element values don't match with respect to maximal ULP difference=1 limit, being 2 off: [1, 2] (actual) vs [1.00000024, 2] (expected) at index []
func.func @close() {
  %a = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %b = stablehlo.constant dense<(0x3F800002, 2.0)> : tensor<complex<f32>>
  check.expect_close %a, %b, max_ulp_difference = 1 : tensor<complex<f32>>, tensor<complex<f32>>
  return
}

// -----

// CHECK: error: check.expect_close: {{.*}} being 1 off
func.func @too_close() {
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.constant dense<0x3F800001> : tensor<f32>
  check.expect_close %a, %b, max_ulp_difference = 5, min_ulp_difference = 2 : tensor<f32>, tensor<f32>
  return
}

// -----

// NaN is near itself, and equal to nothing.
// CHECK: error: check.expect_eq: Element values don't match: nan (actual) vs nan (expected) at index []
func.func @nan() {
  %a = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  check.expect_almost_eq %a, %a : tensor<f32>
  check.expect_eq %a, %a : tensor<f32>
  return
}

// -----

// CHECK: error: check.expect_almost_eq: Element values don't match with tolerance 0.000100: 5 (actual) vs 5.5 (expected) at index []
func.func @almost() {
  %a = stablehlo.constant dense<5.0> : tensor<bf16>
  check.expect_almost_eq_const %a, dense<5.5> : tensor<bf16>
  return
}

// -----

// In the third turn of a loop.
// CHECK: error: check.expect_eq: Element values don't match: true (actual) vs false (expected) at index []
func.func @loop() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %c = stablehlo.compare LE, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.compare EQ, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    check.expect_eq_const %at, dense<false> : tensor<i1>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return %r : tensor<i32>
}
