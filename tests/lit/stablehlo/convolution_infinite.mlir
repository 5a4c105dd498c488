// An infinite weight makes results infinite, not NaN, also where a window's runs are no whole
// registers and there are few features.
// RUN: terrazzo run %s

func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<1x16x16x20xf32>
  %one = stablehlo.constant dense<1.0> : tensor<3x3x20x3xf32>
  %inf = stablehlo.constant dense<0x7F800000> : tensor<1x1x1x3xf32>
  %at = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %w = stablehlo.dynamic_update_slice %one, %inf, %at, %0, %0, %0 : (tensor<3x3x20x3xf32>, tensor<1x1x1x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x3x20x3xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x20xf32>, tensor<3x3x20x3xf32>) -> tensor<1x14x14x3xf32>
  check.expect_eq_const %1, dense<0x7F800000> : tensor<1x14x14x3xf32>
  return
}
