// What a counter from 0 on is divided by is a quotient of Python as it stands, and its remainder too;
// an index of these is inside, and so is one that is carried and the place of a largest element. From
// -1 on nothing of it is so.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK: jump_unless
// CHECK-NOT: sign
// CHECK-NOT: jump_unless
// CHECK: dynamic update
// CHECK: jump
// CHECK: jump_unless
// CHECK: sign
// CHECK: jump_unless
// CHECK: dynamic update
// CHECK: jump
// CHECK: jump_unless
// CHECK-NOT: jump_unless
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %n = stablehlo.constant dense<12> : tensor<i32>
  %zeros = stablehlo.constant dense<0> : tensor<4x3xi32>
  %first0 = stablehlo.constant dense<0> : tensor<i32>
  %r0:2 = stablehlo.while(%i = %first0, %x = %zeros) : tensor<i32>, tensor<4x3xi32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.divide %i, %three : tensor<i32>
    %s = stablehlo.sign %i : tensor<i32>
    %apart = stablehlo.compare NE, %s, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %m = stablehlo.remainder %i, %three : tensor<i32>
    %some = stablehlo.compare NE, %m, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %truth = stablehlo.compare NE, %apart, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %below = stablehlo.and %truth, %some : tensor<i1>
    %d1 = stablehlo.subtract %d, %one : tensor<i32>
    %q = stablehlo.select %below, %d1, %d : tensor<i1>, tensor<i32>
    %neg = stablehlo.compare LT, %m, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %turned = stablehlo.and %neg, %some : tensor<i1>
    %m3 = stablehlo.add %m, %three : tensor<i32>
    %w = stablehlo.select %turned, %m3, %m : tensor<i1>, tensor<i32>
    %qn = stablehlo.compare LT, %q, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %q4 = stablehlo.add %q, %four : tensor<i32>
    %qw = stablehlo.select %qn, %q4, %q : tensor<i1>, tensor<i32>
    %q1 = stablehlo.reshape %qw : (tensor<i32>) -> tensor<1xi32>
    %w1 = stablehlo.reshape %w : (tensor<i32>) -> tensor<1xi32>
    %at = stablehlo.concatenate %q1, %w1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %y = "stablehlo.scatter"(%x, %at, %i) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%l: tensor<i32>, %u: tensor<i32>):
      %sum = stablehlo.add %l, %u : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) : (tensor<4x3xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4x3xi32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x3xi32>
  }
  check.expect_eq_const %r0#1, dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32>
  %first1 = stablehlo.constant dense<-1> : tensor<i32>
  %r1:2 = stablehlo.while(%i = %first1, %x = %zeros) : tensor<i32>, tensor<4x3xi32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.divide %i, %three : tensor<i32>
    %s = stablehlo.sign %i : tensor<i32>
    %apart = stablehlo.compare NE, %s, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %m = stablehlo.remainder %i, %three : tensor<i32>
    %some = stablehlo.compare NE, %m, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %truth = stablehlo.compare NE, %apart, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %below = stablehlo.and %truth, %some : tensor<i1>
    %d1 = stablehlo.subtract %d, %one : tensor<i32>
    %q = stablehlo.select %below, %d1, %d : tensor<i1>, tensor<i32>
    %neg = stablehlo.compare LT, %m, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %turned = stablehlo.and %neg, %some : tensor<i1>
    %m3 = stablehlo.add %m, %three : tensor<i32>
    %w = stablehlo.select %turned, %m3, %m : tensor<i1>, tensor<i32>
    %qn = stablehlo.compare LT, %q, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %q4 = stablehlo.add %q, %four : tensor<i32>
    %qw = stablehlo.select %qn, %q4, %q : tensor<i1>, tensor<i32>
    %q1 = stablehlo.reshape %qw : (tensor<i32>) -> tensor<1xi32>
    %w1 = stablehlo.reshape %w : (tensor<i32>) -> tensor<1xi32>
    %at = stablehlo.concatenate %q1, %w1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %y = "stablehlo.scatter"(%x, %at, %i) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%l: tensor<i32>, %u: tensor<i32>):
      %sum = stablehlo.add %l, %u : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) : (tensor<4x3xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4x3xi32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<4x3xi32>
  }
  check.expect_eq_const %r1#1, dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 10]]> : tensor<4x3xi32>
  %table = stablehlo.constant dense<[[0.0, 2.0, 1.0], [3.0, 0.0, 4.0], [5.0, 1.0, 2.0]]> : tensor<3x3xf32>
  %t = stablehlo.optimization_barrier %table : tensor<3x3xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %visits = stablehlo.constant dense<0> : tensor<3xi32>
  %r2:3 = stablehlo.while(%i = %zero, %s = %one, %v = %visits) : tensor<i32>, tensor<i32>, tensor<3xi32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
    %y = "stablehlo.scatter"(%v, %at, %one) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<i32>, %u: tensor<i32>):
      %sum = stablehlo.add %l, %u : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }) : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
    %row1 = stablehlo.dynamic_slice %t, %s, %zero, sizes = [1, 3] : (tensor<3x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %row = stablehlo.reshape %row1 : (tensor<1x3xf32>) -> tensor<3xf32>
    %places = stablehlo.iota dim = 0 : tensor<3xi32>
    %best:2 = stablehlo.reduce(%row init: %lowest), (%places init: %zero) across dimensions = [0] : (tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
      %more = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %m = stablehlo.select %more, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %more, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %m, %w : tensor<f32>, tensor<i32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %best#1, %y : tensor<i32>, tensor<i32>, tensor<3xi32>
  }
  check.expect_eq_const %r2#2, dense<[4, 4, 4]> : tensor<3xi32>
  return
}
