// A convolution of f16, and of bf16 whose windows are no runs of an even number of elements, is one
// of copies in f32, whose result is rounded; others stay.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: convolution: dot {{.*}} [1,2,1,3,8] {{.*}} -> %[[A:[0-9]+]]
// CHECK: convert: loop
// CHECK: convolution: dot {{.*}} [1,4,1,3,1] %[[P:[0-9]+]][6,1,
// CHECK: convolution: dot {{.*}} [1,4,1,1,2]
// CHECK-NOT: convert
// CHECK: convolution: dot {{.*}} [1,2,1,3,4]
// CHECK-NOT: convert
func.func @main() {
  %x = stablehlo.constant dense<2.0> : tensor<1x4x8xf16>
  %w = stablehlo.constant dense<0.5> : tensor<3x8x1xf16>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xf16>, tensor<3x8x1xf16>) -> tensor<1x2x1xf16>
  check.expect_eq_const %0, dense<24.0> : tensor<1x2x1xf16>
  %y = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xbf16>
  %v = stablehlo.constant dense<[[[1.0]], [[10.0]], [[100.0]]]> : tensor<3x1x1xbf16>
  %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xbf16>, tensor<3x1x1xbf16>) -> tensor<1x4x1xbf16>
  check.expect_eq_const %1, dense<[[[210.0], [320.0], [432.0], [43.0]]]> : tensor<1x4x1xbf16>
  %z = stablehlo.constant dense<2.0> : tensor<1x4x2xf16>
  %u = stablehlo.constant dense<0.5> : tensor<1x2x1xf16>
  %2 = stablehlo.convolution(%z, %u) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x2xf16>, tensor<1x2x1xf16>) -> tensor<1x4x1xf16>
  check.expect_eq_const %2, dense<2.0> : tensor<1x4x1xf16>
  %p = stablehlo.constant dense<2.0> : tensor<1x4x4xbf16>
  %q = stablehlo.constant dense<0.5> : tensor<3x4x1xbf16>
  %3 = stablehlo.convolution(%p, %q) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4xbf16>, tensor<3x4x1xbf16>) -> tensor<1x2x1xbf16>
  check.expect_eq_const %3, dense<12.0> : tensor<1x2x1xbf16>
  return
}
