// RUN: stablehlo-translate --interpret %s | FileCheck %s
// CHECK: tensor<2x3xf32> {
// CHECK: [0.000000e+00, 1.000000e+00, 2.000000e+00],
func.func @main() -> tensor<2x3xf32> {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
