// A state of twenty qubits, as programs of circuits have it: a dimension each.
// RUN: stablehlo-translate --interpret %s
func.func @main() {
  %flat = stablehlo.iota dim = 0 : tensor<1048576xi32>
  %state = stablehlo.reshape %flat : (tensor<1048576xi32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>
  %gate = stablehlo.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi32>
  %dot = stablehlo.dot_general %gate, %state, contracting_dims = [1] x [3] : (tensor<2x2xi32>, tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>
  %turned = stablehlo.transpose %dot, dims = [1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19] : (tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>
  %mirrored = stablehlo.reverse %state, dims = [3] : tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>
  check.expect_eq %turned, %mirrored : tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>
  %bits = stablehlo.transpose %state, dims = [19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : (tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %sum = stablehlo.reduce(%bits init: %zero) applies stablehlo.add across dimensions = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18] : (tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xi32>, tensor<i32>) -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %first = stablehlo.slice %sum [1:2, 1:2, 1:2, 1:2, 1:2, 1:2, 1:2, 1:2, 1:2, 1:2] : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<1x1x1x1x1x1x1x1x1x1xi32>
  %one = stablehlo.reshape %first : (tensor<1x1x1x1x1x1x1x1x1x1xi32>) -> tensor<i32>
  check.expect_eq_const %one, dense<894784000> : tensor<i32>
  return
}
