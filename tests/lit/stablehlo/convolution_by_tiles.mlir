// Windows of 3x3 of many features are multiplied by tiles of 2x2 results, with the kernel as a step
// of its own makes it for that; not where the module asks for precise sums.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: convolution: loop [1,16,16] in %[[W:[0-9]+]][16,16,1] %[[W]]+256[16,16,1]
// CHECK: convolution: dot {{.*}} [1,10,10,16,3,3,16] {{.*}} %[[W]][{{.*}}] tiles %{{[0-9]+}} ->
// CHECK: convolution: dot {{.*}} [1,10,10,16,3,3,16] {{.*}} %[[W]][{{[0-9,]*}}] ->
func.func @main() {
  %x = stablehlo.constant dense<2.0> : tensor<1x12x12x16xf32>
  %w = stablehlo.constant dense<0.5> : tensor<3x3x16x16xf32>
  %y = stablehlo.constant dense<144.0> : tensor<1x10x10x16xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x12x12x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x10x10x16xf32>
  check.expect_eq %0, %y : tensor<1x10x10x16xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<1x12x12x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x10x10x16xf32>
  check.expect_eq %1, %y : tensor<1x10x10x16xf32>
  return
}
