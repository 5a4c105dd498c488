// What is computed has fewer dimensions than what it is computed of, whose last is of 1: it is
// transposed where it is computed, too.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK: @0 stablehlo.multiply: loop [3,2] in %0[1,3]
func.func @main() {
  %x = stablehlo.constant dense<[[[1], [2], [3]], [[4], [5], [6]]]> : tensor<2x3x1xi32>
  %three = stablehlo.constant dense<3> : tensor<3x2xi32>
  %0 = stablehlo.add %x, %x : tensor<2x3x1xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %sum = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x3x1xi32>, tensor<i32>) -> tensor<2x3xi32>
  %1 = stablehlo.negate %sum : tensor<2x3xi32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %3 = stablehlo.multiply %2, %three : tensor<3x2xi32>
  check.expect_eq_const %3, dense<[[-6, -24], [-12, -30], [-18, -36]]> : tensor<3x2xi32>
  return
}
