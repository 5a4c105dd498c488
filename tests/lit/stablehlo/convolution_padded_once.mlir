// An input that all read with zeros around it, or element by element, lies so from its first
// convolution on; another padding is another copy. What is read otherwise stays where it is.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: convolution: copy [1,4,1]
// CHECK-NEXT: convolution: dot {{.*}} [1,4,1,3,1] %[[P:[0-9]+]][6,1,0,1,1]
// CHECK-NOT: copy
// CHECK: convolution: dot {{.*}} [1,3,1,4,1] %[[P]][6,1,0,1,1]
// CHECK-NOT: copy
// CHECK: multiply: loop [1,4,1] in %[[P]]+1[
// CHECK: convolution: copy [1,4,1] %[[P]]+1[
// CHECK-NEXT: convolution: dot {{.*}} [1,6,1,2,1]
// CHECK: convolution: copy [1,3,1]
// CHECK: convolution: copy [1,3,1]
// CHECK-NOT: convolution: copy
func.func @main() {
  %x = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
  %y = stablehlo.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32>
  %w = stablehlo.constant dense<[[[1.0]], [[10.0]], [[100.0]]]> : tensor<3x1x1xf32>
  %v = stablehlo.constant dense<[[[1.0]], [[1.0]], [[1.0]], [[1.0]]]> : tensor<4x1x1xf32>
  %u = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x4x1xf32>
  check.expect_eq_const %0, dense<[[[210.0], [321.0], [432.0], [43.0]]]> : tensor<1x4x1xf32>
  %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<4x1x1xf32>) -> tensor<1x3x1xf32>
  check.expect_eq_const %1, dense<[[[6.0], [10.0], [9.0]]]> : tensor<1x3x1xf32>
  %square = stablehlo.multiply %x, %x : tensor<1x4x1xf32>
  check.expect_eq_const %square, dense<[[[1.0], [4.0], [9.0], [16.0]]]> : tensor<1x4x1xf32>
  %2 = stablehlo.convolution(%x, %u) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[2, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x6x1xf32>
  check.expect_eq_const %2, dense<[[[0.0], [10.0], [21.0], [32.0], [43.0], [4.0]]]> : tensor<1x6x1xf32>
  %3 = stablehlo.convolution(%y, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<3x1x1xf32>) -> tensor<1x3x1xf32>
  check.expect_eq_const %3, dense<[[[210.0], [321.0], [32.0]]]> : tensor<1x3x1xf32>
  %4 = stablehlo.convolution(%y, %u) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<2x1x1xf32>) -> tensor<1x4x1xf32>
  check.expect_eq_const %4, dense<[[[10.0], [21.0], [32.0], [3.0]]]> : tensor<1x4x1xf32>
  %back = stablehlo.reverse %y, dims = [1] : tensor<1x3x1xf32>
  check.expect_eq_const %back, dense<[[[3.0], [2.0], [1.0]]]> : tensor<1x3x1xf32>
  return
}
