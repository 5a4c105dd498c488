// What a dilated input has zeros for is not multiplied: results of each phase are a product of
// their own, of the taps that meet elements, and zeros where there are none. Phases of as many taps
// that meet the same elements are columns of one product, or batches of it beside many features.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: convolution: dot {{.*}} [1,4,1,1,1] %[[IN:[0-9]+]]+1[6,1,0,1,1] %[[W:[0-9]+]]+1[0,0,1,2,1] -> %[[OUT:[0-9]+]][7,2,1,0,0]
// CHECK-NEXT: convolution: dot {{.*}} [1,3,1,2,1] %[[IN]]+1[6,1,0,1,1] %[[W]][0,0,1,2,1] -> %[[OUT]]+1[7,2,1,0,0]
// CHECK: convolution: dot b0 m2 n1 k2 [1,4,1,1,1]
// CHECK-NEXT: convolution: dot b0 m2 n1 k2 [1,3,1,0,1]
// CHECK-NEXT: convolution: dot b0 m2 n1 k2 [1,3,1,1,1]
// CHECK: convolution: dot b0 m2 n2 k2 [1,6,1,6,1,1] {{.*}}[6,1,0,0,1,1] {{.*}}[0,0,1,1,-6,1] {{.*}}[36,6,1,1,0,0]
// CHECK: convolution: dot b1 m2 n1 k2 [5,1,2,50,1,1] {{.*}}+4[-1,0,0,0,5,0]
// CHECK-NOT: dot
func.func @main() {
  %x = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]]> : tensor<1x6x1xf32>
  %w = stablehlo.constant dense<[[[1.0]], [[10.0]], [[100.0]]]> : tensor<3x1x1xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-1, -1]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x1xf32>, tensor<3x1x1xf32>) -> tensor<1x7x1xf32>
  check.expect_eq_const %0, dense<[[[20.0], [302.0], [30.0], [403.0], [40.0], [504.0], [50.0]]]> : tensor<1x7x1xf32>
  %short = stablehlo.slice %w [0:2, 0:1, 0:1] : (tensor<3x1x1xf32>) -> tensor<2x1x1xf32>
  %1 = stablehlo.convolution(%x, %short) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-3, -2]], lhs_dilate = [3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x1xf32>, tensor<2x1x1xf32>) -> tensor<1x10x1xf32>
  check.expect_eq_const %1, dense<[[[2.0], [0.0], [30.0], [3.0], [0.0], [40.0], [4.0], [0.0], [50.0], [5.0]]]> : tensor<1x10x1xf32>
  %row = stablehlo.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]]]> : tensor<6x1x1xf32>
  %2 = stablehlo.convolution(%x, %row) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[5, 5]], lhs_dilate = [6], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x1xf32>, tensor<6x1x1xf32>) -> tensor<1x36x1xf32>
  %3 = stablehlo.broadcast_in_dim %x, dims = [0, 1, 3] : (tensor<1x6x1xf32>) -> tensor<1x6x6x1xf32>
  %4 = stablehlo.transpose %row, dims = [1, 0, 2] : (tensor<6x1x1xf32>) -> tensor<1x6x1xf32>
  %5 = stablehlo.reshape %2 : (tensor<1x36x1xf32>) -> tensor<1x6x6x1xf32>
  %6 = stablehlo.broadcast_in_dim %4, dims = [0, 2, 3] : (tensor<1x6x1xf32>) -> tensor<1x6x6x1xf32>
  %7 = stablehlo.multiply %3, %6 : tensor<1x6x6x1xf32>
  check.expect_eq %5, %7 : tensor<1x6x6x1xf32>
  %two = stablehlo.slice %x [0:1, 0:2, 0:1] : (tensor<1x6x1xf32>) -> tensor<1x2x1xf32>
  %five = stablehlo.slice %row [0:5, 0:1, 0:1] : (tensor<6x1x1xf32>) -> tensor<5x1x1xf32>
  %many = stablehlo.broadcast_in_dim %five, dims = [0, 1, 2] : (tensor<5x1x1xf32>) -> tensor<5x1x50xf32>
  %8 = stablehlo.convolution(%two, %many) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[4, 4]], lhs_dilate = [5]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xf32>, tensor<5x1x50xf32>) -> tensor<1x10x50xf32>
  %9 = stablehlo.slice %8 [0:1, 0:10, 49:50] : (tensor<1x10x50xf32>) -> tensor<1x10x1xf32>
  check.expect_eq_const %9, dense<[[[5.0], [4.0], [3.0], [2.0], [1.0], [10.0], [8.0], [6.0], [4.0], [2.0]]]> : tensor<1x10x1xf32>
  return
}
