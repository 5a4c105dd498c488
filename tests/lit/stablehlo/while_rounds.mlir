// What is computed in front of a loop, although it may run no round: results are the same, division
// by zero and indices that are out of range do no harm, and what the loop returns as it got it stays
// so.
// RUN: terrazzo run %s

func.func @main() {
  %none = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %y = stablehlo.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
  %at = stablehlo.constant dense<7> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<2x2xi32>
  %0:2 = func.call @loop(%none, %x, %y, %at, %zero) : (tensor<i32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<i32>, tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
  check.expect_eq_const %0#1, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %1:2 = func.call @loop(%three, %x, %y, %at, %zero) : (tensor<i32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<i32>, tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %1#0, dense<[[-343, 0], [0, -343]]> : tensor<2x2xi32>
  check.expect_eq_const %1#1, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  return
}
func.func private @loop(%n: tensor<i32>, %x: tensor<2x2xi32>, %y: tensor<2x2xi32>, %at: tensor<i32>, %zero: tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %from = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %from, %p = %y, %v = %x) : tensor<i32>, tensor<2x2xi32>, tensor<2x2xi32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %q = stablehlo.divide %v, %zero : tensor<2x2xi32>
    %vv = stablehlo.dot_general %v, %q, contracting_dims = [1] x [0] : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %row = stablehlo.dynamic_slice %vv, %at, %from, sizes = [1, 2] : (tensor<2x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
    %all = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x2xi32>) -> tensor<2x2xi32>
    %r = stablehlo.multiply %p, %all : tensor<2x2xi32>
    stablehlo.return %next, %r, %v : tensor<i32>, tensor<2x2xi32>, tensor<2x2xi32>
  }
  return %0#1, %0#2 : tensor<2x2xi32>, tensor<2x2xi32>
}
