// A convolution with strides and both of its gradients, of 150 rows and 75 windows over eight shards
// of 19 and 10: the gradient of the input has 75 rows two places apart, so that every other shard
// begins between two of them; of the gradient of the kernel the last shard adds what 5 rows give.
// RUN: terrazzo partition %s --stats | FileCheck %s
// RUN: terrazzo partition %s | FileCheck --check-prefix=LOCAL %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=8]>
func.func @main(%arg0: tensor<2x150x4x4xf32>, %arg1: tensor<3x3x4x8xf32>) -> (tensor<2x75x2x8xf32>, tensor<2x150x4x4xf32>, tensor<3x3x4x8xf32>) {
  %x = sdy.sharding_constraint %arg0 <@mesh, [{}, {"x"}, {}, {}]> : tensor<2x150x4x4xf32>
  %0 = stablehlo.convolution(%x, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x150x4x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x75x2x8xf32>
  %y = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}, {}, {}]> : tensor<2x75x2x8xf32>
  %1 = stablehlo.convolution(%y, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x75x2x8xf32>, tensor<3x3x4x8xf32>) -> tensor<2x150x4x4xf32>
  %dx = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}, {}, {}]> : tensor<2x150x4x4xf32>
  %2 = stablehlo.convolution(%x, %y) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x150x4x4xf32>, tensor<2x75x2x8xf32>) -> tensor<3x3x4x8xf32>
  return %y, %dx, %2 : tensor<2x75x2x8xf32>, tensor<2x150x4x4xf32>, tensor<3x3x4x8xf32>
}

// CHECK-NOT: all_gather {{.*}}:11:8
// CHECK-NOT: all_gather {{.*}}:13:8
// CHECK-NOT: all_gather {{.*}}:15:8
// CHECK: all_reduce{{ +}}8  "x"{{.*}}:15:8

// LOCAL: stablehlo.convolution{{.*}}lhs_dilate = [2, 2]{{.*}} -> tensor<2x20x4x4xf32>
// LOCAL: stablehlo.dynamic_slice {{.*}} -> tensor<2x19x4x4xf32>
// LOCAL: "stablehlo.case"
// LOCAL: stablehlo.convolution{{.*}}tensor<2x10x2x8xf32>) -> tensor<3x3x4x8xf32>
// LOCAL: stablehlo.convolution{{.*}}tensor<2x5x2x8xf32>) -> tensor<3x3x4x8xf32>

// SAME: the sharded program computes what the whole one does
