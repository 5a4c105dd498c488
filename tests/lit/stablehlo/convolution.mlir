// stablehlo.convolution
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<2x8x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}, {}]>}, %arg1: tensor<3x3x4x6xf32>) -> tensor<2x8x8x6xf32> {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x8x8x6xf32>
  return %0 : tensor<2x8x8x6xf32>
}

// CHECK: func.func @main(%arg0: tensor<2x8x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}, {}]>}, %arg1: tensor<3x3x4x6xf32>) -> tensor<2x8x8x6xf32> {
// CHECK-NEXT:   %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = {{\[\[}}1, 1], [1, 1{{\]\]}}, rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x8x8x6xf32>
// CHECK-NEXT:   return %0 : tensor<2x8x8x6xf32>
// CHECK-NEXT: }

// SHARD: func.func @main(%arg0: tensor<2x8x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}, {}]>}, %arg1: tensor<3x3x4x6xf32>) -> (tensor<2x8x8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}, {"c", ?}, {?}]>}) {
// SHARD-NEXT:   %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = {{\[\[}}1, 1], [1, 1{{\]\]}}, rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}, {"c", ?}, {?}]>]>} : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x8x8x6xf32>
// SHARD-NEXT:   return %0 : tensor<2x8x8x6xf32>
// SHARD-NEXT: }
