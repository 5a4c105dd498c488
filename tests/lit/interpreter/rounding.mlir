// The interpreter rounds each product, so that a sum of three is that of two and one.
// RUN: stablehlo-translate --interpret %s
func.func @main() {
  %a = stablehlo.constant dense<[[1.12, -2.45, 3.89], [-4.03, 5.76, 0.12], [7.34, -8.91, 9.54]]> : tensor<3x3xf32>
  %b = stablehlo.constant dense<[[-1.87, 2.34, -3.15, 4.56, 5.12], [6.02, -7.89, 8.43, -9.12, 0.54], [-11.45, 12.78, -13.01, 14.67, -15.89]]> : tensor<3x5xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = stablehlo.slice %a [0:3, 0:2] : (tensor<3x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.slice %a [0:3, 2:3] : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %3 = stablehlo.slice %b [0:2, 0:5] : (tensor<3x5xf32>) -> tensor<2x5xf32>
  %4 = stablehlo.slice %b [2:3, 0:5] : (tensor<3x5xf32>) -> tensor<1x5xf32>
  %5 = stablehlo.dot_general %1, %3, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
  %6 = stablehlo.dot_general %2, %4, contracting_dims = [1] x [0] : (tensor<3x1xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  %7 = stablehlo.add %5, %6 : tensor<3x5xf32>
  check.expect_eq %0, %7 : tensor<3x5xf32>
  return
}
