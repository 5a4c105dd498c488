// RUN: stablehlo-translate --interpret %s | FileCheck %s
// CHECK: tensor<2x3xi32> {
// CHECK: [0, 0, 0],
// CHECK: [1, 1, 1]
func.func @main() -> tensor<2x3xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<2xi32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %1 = stablehlo.dynamic_broadcast_in_dim %0, %shape, dims = [0] {known_expanding_dimensions = array<i64>} : (tensor<2xi32>, tensor<2xi64>) -> tensor<2x3xi32>
  return %1 : tensor<2x3xi32>
}
