// Sizes of slices by a constant, and by the result's type.
// RUN: stablehlo-translate --interpret --args='[dense<[2, 1]> : tensor<2xi64>]' %s | FileCheck %s
// CHECK-COUNT-2: [4, 5],
func.func @main(%sizes: tensor<2xi64>) -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %0 = stablehlo.iota dim = 0 : tensor<12xi32>
  %y = stablehlo.reshape %0 : (tensor<12xi32>) -> tensor<6x2xi32>
  %at = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %k = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %2 = "stablehlo.dynamic_gather"(%y, %at, %k) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<6x2xi32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2xi32>
  %3 = "stablehlo.dynamic_gather"(%y, %at, %sizes) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<6x2xi32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2xi32>
  return %2, %3 : tensor<2x2xi32>, tensor<2x2xi32>
}
