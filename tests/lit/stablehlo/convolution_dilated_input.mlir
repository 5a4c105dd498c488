// What a dilated input has zeros for is not multiplied: results of each phase are a product of
// their own, of the taps that meet elements. A window too short for that reads the zeros.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: convolution: dot {{.*}} [1,4,1,1,1] %[[IN:[0-9]+]]+1[6,1,0,1,1] %[[W:[0-9]+]]+1[0,0,1,2,1] -> %[[OUT:[0-9]+]][7,2,1,0,0]
// CHECK-NEXT: convolution: dot {{.*}} [1,3,1,2,1] %[[IN]]+1[6,1,0,1,1] %[[W]][0,0,1,2,1] -> %[[OUT]]+1[7,2,1,0,0]
// CHECK: convolution: copy [1,4,1]
// CHECK-NEXT: convolution: dot {{.*}} [1,10,1,2,1]
// CHECK-NOT: dot
func.func @main() {
  %x = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]]> : tensor<1x6x1xf32>
  %w = stablehlo.constant dense<[[[1.0]], [[10.0]], [[100.0]]]> : tensor<3x1x1xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-1, -1]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x1xf32>, tensor<3x1x1xf32>) -> tensor<1x7x1xf32>
  check.expect_eq_const %0, dense<[[[20.0], [302.0], [30.0], [403.0], [40.0], [504.0], [50.0]]]> : tensor<1x7x1xf32>
  %short = stablehlo.slice %w [0:2, 0:1, 0:1] : (tensor<3x1x1xf32>) -> tensor<2x1x1xf32>
  %1 = stablehlo.convolution(%x, %short) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-3, -2]], lhs_dilate = [3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x1xf32>, tensor<2x1x1xf32>) -> tensor<1x10x1xf32>
  check.expect_eq_const %1, dense<[[[2.0], [0.0], [30.0], [3.0], [0.0], [40.0], [4.0], [0.0], [50.0], [5.0]]]> : tensor<1x10x1xf32>
  return
}
