// Shards of a convolution along a dimension that the axis does not divide read rows of their
// neighbours, and zeros for what is behind the end.
// RUN: terrazzo partition %s --stats | FileCheck %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8x64x1x50xf32>, %arg1: tensor<3x3x8x8xf32>) -> tensor<8x64x1x50xf32> {
  %0 = stablehlo.transpose %arg0, dims = [3, 1, 2, 0] : (tensor<8x64x1x50xf32>) -> tensor<50x64x1x8xf32>
  %1 = stablehlo.cosine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {}]>]>} : tensor<50x64x1x8xf32>
  %2 = stablehlo.convolution(%1, %arg1) dim_numbers = [0, 1, b, f]x[0, 1, i, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<50x64x1x8xf32>, tensor<3x3x8x8xf32>) -> tensor<50x64x1x8xf32>
  %3 = stablehlo.cosine %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {}]>]>} : tensor<50x64x1x8xf32>
  %4 = stablehlo.convolution(%3, %arg1) dim_numbers = [0, 1, b, f]x[0, 1, o, i]->[0, 1, b, f], window = {pad = [[4, 0], [1, 1]], rhs_dilate = [2, 1], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<50x64x1x8xf32>, tensor<3x3x8x8xf32>) -> tensor<50x64x1x8xf32>
  %5 = stablehlo.negate %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {}]>]>} : tensor<50x64x1x8xf32>
  %6 = stablehlo.transpose %5, dims = [3, 1, 2, 0] : (tensor<50x64x1x8xf32>) -> tensor<8x64x1x50xf32>
  return %6 : tensor<8x64x1x50xf32>
}

// CHECK: collective_permute{{ +}}2  "x"{{ +}}2.0 KiB {{.*}}:10:8
// CHECK: collective_permute{{ +}}2  "x"{{ +}}2.0 KiB {{.*}}:10:8
// CHECK: collective_permute{{ +}}2  "x"{{ +}}8.0 KiB {{.*}}:12:8
// CHECK: all_gather {{.*}}:15:3

// SAME: the sharded program computes what the whole one does
