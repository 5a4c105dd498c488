// A reduction over a few tensors that are stacked is elementwise; of truth values, jnp.select's
// argmax is the first that is true.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %a = stablehlo.constant dense<[[false, false, true, true]]> : tensor<1x4xi1>
  %b = stablehlo.constant dense<[[false, true, false, true]]> : tensor<1x4xi1>
  %c = stablehlo.constant dense<[[false, true, true, true]]> : tensor<1x4xi1>
  %x = stablehlo.constant dense<[[7.0, 1.0, 2.0, 0x7FC00000]]> : tensor<1x4xf32>
  %y = stablehlo.constant dense<[[3.0, 5.0, 2.0, 1.0]]> : tensor<1x4xf32>
  %none = stablehlo.constant dense<false> : tensor<i1>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK-NOT: stablehlo.concatenate
  // CHECK-NOT: stablehlo.reduce
  %0 = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<1x4xi1>, tensor<1x4xi1>, tensor<1x4xi1>) -> tensor<3x4xi1>
  %1 = stablehlo.iota dim = 0 : tensor<3x4xi32>
  %2:2 = stablehlo.reduce(%0 init: %none), (%1 init: %zero) across dimensions = [0] : (tensor<3x4xi1>, tensor<3x4xi32>, tensor<i1>, tensor<i32>) -> (tensor<4xi1>, tensor<4xi32>)
   reducer(%v: tensor<i1>, %w: tensor<i1>) (%i: tensor<i32>, %j: tensor<i32>) {
    %10 = stablehlo.compare GT, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %11 = stablehlo.compare NE, %v, %v, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %12 = stablehlo.or %10, %11 : tensor<i1>
    %13 = stablehlo.compare EQ, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %14 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %15 = stablehlo.and %13, %14 : tensor<i1>
    %16 = stablehlo.or %12, %15 : tensor<i1>
    %17 = stablehlo.select %12, %v, %w : tensor<i1>, tensor<i1>
    %18 = stablehlo.select %16, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %17, %18 : tensor<i1>, tensor<i32>
  }
  check.expect_eq_const %2#0, dense<[false, true, true, true]> : tensor<4xi1>
  check.expect_eq_const %2#1, dense<[0, 1, 0, 0]> : tensor<4xi32>

  %3 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.iota dim = 0 : tensor<2x4xi32>
  %5:2 = stablehlo.reduce(%3 init: %low), (%4 init: %zero) across dimensions = [0] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%v: tensor<f32>, %w: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %10 = stablehlo.compare GT, %v, %w, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %11 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %12 = stablehlo.or %10, %11 : tensor<i1>
    %13 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %14 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %15 = stablehlo.and %13, %14 : tensor<i1>
    %16 = stablehlo.or %12, %15 : tensor<i1>
    %17 = stablehlo.select %12, %v, %w : tensor<i1>, tensor<f32>
    %18 = stablehlo.select %16, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %17, %18 : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %5#1, dense<[0, 1, 0, 0]> : tensor<4xi32>
  return
}
