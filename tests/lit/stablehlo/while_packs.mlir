// What a short loop in a loop reads apart is brought together in front of the outermost one in which
// it stays the same: rows whose largest is wanted lie side by side then. Those of %f never change,
// those of %m do in each round of the outer loop, and what a round of the inner one gives is no use.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK: copy [6,6] %[[F:[0-9]+]][1,6] -> %[[G:[0-9]+]][6,1]
// CHECK: jump_unless
// CHECK: copy [6,6] %[[M:[0-9]+]][1,6] -> %[[N:[0-9]+]][6,1]
// CHECK: jump_unless
// CHECK-NOT: copy [6,6]
// CHECK: reduce: loop [6,6] in %[[N]][1,6] %{{[0-9]+}}[0,1] out
// CHECK: reduce: loop [6,6] in %[[G]][1,6] %{{[0-9]+}}[0,1] out
// CHECK-NOT: copy [6,6]
// CHECK: jump @
func.func @main() {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %ones = stablehlo.constant dense<1.0> : tensor<6x6xf32>
  %all = stablehlo.iota dim = 0 : tensor<36xf32>
  %a0 = stablehlo.reshape %all : (tensor<36xf32>) -> tensor<6x6xf32>
  %e0 = stablehlo.cosine %a0 : tensor<6x6xf32>
  %d0 = stablehlo.add %e0, %a0 : tensor<6x6xf32>
  %f0 = stablehlo.round_nearest_even %d0 : tensor<6x6xf32>
  %m0 = stablehlo.sine %a0 : tensor<6x6xf32>
  %mr = stablehlo.round_nearest_even %m0 : tensor<6x6xf32>
  %y0 = stablehlo.iota dim = 0 : tensor<6xf32>
  %0:4 = stablehlo.while(%i = %n, %f = %f0, %m = %mr, %y = %y0) : tensor<i32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xf32>
  cond {
    %most = stablehlo.constant dense<2> : tensor<i32>
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1:4 = stablehlo.while(%j = %n, %g = %f, %p = %m, %z = %y) : tensor<i32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xf32>
    cond {
      %most = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %j, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %b = stablehlo.broadcast_in_dim %z, dims = [1] : (tensor<6xf32>) -> tensor<6x6xf32>
      %2 = stablehlo.add %p, %b : tensor<6x6xf32>
      %3 = stablehlo.reduce(%2 init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<6xf32>) -> tensor<6x6xf32>
      %5 = stablehlo.subtract %g, %4 : tensor<6x6xf32>
      %6 = stablehlo.reduce(%5 init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
      %next = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %next, %g, %p, %6 : tensor<i32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xf32>
    }
    %7 = stablehlo.add %m, %ones : tensor<6x6xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %f, %7, %1#3 : tensor<i32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xf32>
  }
  check.expect_eq_const %0#3, dense<[-25.0, -19.0, -13.0, -8.0, -2.0, 4.0]> : tensor<6xf32>
  return
}
