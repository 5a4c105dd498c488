// RUN: stablehlo-translate --interpret %s | FileCheck %s
// CHECK: tensor<1x4x1xf32> {
// CHECK: [0.000000e+00],
// CHECK: [1.000000e+00],
// CHECK: [3.000000e+00],
// CHECK: [2.000000e+00]
func.func @main() -> tensor<1x4x1xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<1x3x1xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>
  %p = stablehlo.constant dense<1> : tensor<1x2xi64>
  %2 = "stablehlo.dynamic_conv"(%0, %1, %p) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x4x1xf32>
  return %2 : tensor<1x4x1xf32>
}
