// RUN: stablehlo-translate --interpret %s
// Floats of six bits: the largest value for what is above it, denormals, rounding to even.

func.func @main() {
  %x = stablehlo.constant dense<[100.0, -0.3, 0.0625, 1.0625, 1.1875, -30.0]> : tensor<6xf32>
  %0 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xf6E2M3FN>
  check.expect_eq_const %0, dense<[7.5, -0.25, 0.0, 1.0, 1.25, -7.5]> : tensor<6xf6E2M3FN>
  %1 = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xf6E3M2FN>
  check.expect_eq_const %1, dense<[28.0, -0.3125, 0.0625, 1.0, 1.25, -28.0]> : tensor<6xf6E3M2FN>
  %2 = stablehlo.add %0, %0 : tensor<6xf6E2M3FN>
  check.expect_eq_const %2, dense<[7.5, -0.5, 0.0, 2.0, 2.5, -7.5]> : tensor<6xf6E2M3FN>
  func.return
}
