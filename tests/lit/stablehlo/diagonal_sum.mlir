// A sum of what is 0 but on a diagonal reads the diagonal.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK-COUNT-2: stablehlo.reduce: loop [4,3,3]
// CHECK-NOT: loop [4,3,3]
// CHECK: stablehlo.add: loop [4,3] in %0[9,4] out %1[3,1]
func.func @main(%x: tensor<4x3x3xi32>) -> (tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi64>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<4x3x3xi32>
  %i = stablehlo.iota dim = 0 : tensor<3x3xi32>
  %k = stablehlo.iota dim = 1 : tensor<3x3xi32>
  %same = stablehlo.compare EQ, %i, %k, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
  %mask = stablehlo.broadcast_in_dim %same, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<4x3x3xi1>
  %only = stablehlo.select %mask, %x, %zeros : tensor<4x3x3xi1>, tensor<4x3x3xi32>
  %0 = stablehlo.reduce(%only init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x3x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  // other dimensions than those that are compared
  %other = stablehlo.broadcast_in_dim %same, dims = [2, 1] : (tensor<3x3xi1>) -> tensor<4x3x3xi1>
  %more = stablehlo.select %other, %zeros, %x : tensor<4x3x3xi1>, tensor<4x3x3xi32>
  %1 = stablehlo.reduce(%more init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x3x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  // in a wider type
  %wide = stablehlo.constant dense<0> : tensor<i64>
  %2 = "stablehlo.reduce"(%only, %wide) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<4x3x3xi32>, tensor<i64>) -> tensor<4x3xi64>
  return %0, %1, %2 : tensor<4x3xi32>, tensor<4x3xi32>, tensor<4x3xi64>
}
