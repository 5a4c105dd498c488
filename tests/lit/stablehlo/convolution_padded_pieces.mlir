// What is concatenated for a convolution that pads it is written between the zeros at once, also
// what is computed, and nowhere else; what another one reads without zeros is put together first.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: convolution: loop [1,2,1] in {{.*}} out %[[P:[0-9]+]]+2[{{[0-9]+}},2,1] {{.*}}neg v0
// CHECK: convolution: copy [1,2,1] {{.*}} -> %[[P]]+3[
// CHECK-NEXT: convolution: dot {{.*}} [1,2,1,3,2] %[[P]][
// CHECK: concatenate: {{.*}} out %[[Q:[0-9]+]][
// CHECK: convolution: dot {{.*}} %[[Q]][
func.func @main() {
  %x = stablehlo.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %y = stablehlo.constant dense<[[[3.0], [4.0]]]> : tensor<1x2x1xf32>
  %w = stablehlo.constant dense<[[[1.0], [2.0]], [[10.0], [20.0]], [[100.0], [200.0]]]> : tensor<3x2x1xf32>
  %v = stablehlo.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %n = stablehlo.negate %x : tensor<1x2x1xf32>
  %c = stablehlo.concatenate %n, %y, dim = 2 : (tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x2xf32>
  %0 = stablehlo.convolution(%c, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x2xf32>, tensor<3x2x1xf32>) -> tensor<1x2x1xf32>
  check.expect_eq_const %0, dense<[[[650.0], [65.0]]]> : tensor<1x2x1xf32>
  %m = stablehlo.negate %y : tensor<1x2x1xf32>
  %d = stablehlo.concatenate %m, %x, dim = 2 : (tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x2xf32>
  %1 = stablehlo.convolution(%d, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x2xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  check.expect_eq_const %1, dense<[[[-1.0], [0.0]]]> : tensor<1x2x1xf32>
  return
}
