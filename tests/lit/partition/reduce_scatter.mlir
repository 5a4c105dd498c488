// The sum is wanted in shards: a reduce-scatter instead of an all-reduce and a slice; what is not
// sliced is reduced afterwards, on the smaller shards.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>, terrazzo.global_type = tensor<8x16xf32>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, terrazzo.global_type = tensor<8xf32>}) {
// CHECK-NEXT:   %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:   %1 = "stablehlo.reduce_scatter"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 2], [1, 3{{\]\]}}> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
// CHECK-NEXT:   ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT:     %3 = stablehlo.add %arg1, %arg2 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %3 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3{{\]\]}}> : tensor<2x2xi64>, use_global_device_ids}> ({
// CHECK-NEXT:   ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT:     %3 = stablehlo.add %arg1, %arg2 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %3 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return %2 : tensor<4xf32>
// CHECK-NEXT: }
