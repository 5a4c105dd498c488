// Groups and pairs name partitions in the order of the mesh.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>
sdy.mesh @plain = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@plain, [{"x"}, {"y"}]>}) {
  return %arg0, %arg0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>
// CHECK-NEXT: sdy.mesh @plain = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, terrazzo.global_type = tensor<8x8xf32>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>, terrazzo.global_type = tensor<8x8xf32>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@plain, [{"x"}, {"y"}]>, terrazzo.global_type = tensor<8x8xf32>}) {
// CHECK-NEXT:   %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[\[}}3, 3], [2, 1], [1, 2], [0, 0{{\]\]}}> : tensor<4x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:   %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[\[}}3, 2], [1, 0{{\]\]}}> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:   %2 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<{{\[\[}}3, 0], [1, 1], [2, 2], [0, 3{{\]\]}}> : tensor<4x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:   return %1, %2 : tensor<4x8xf32>, tensor<4x4xf32>
// CHECK-NEXT: }
