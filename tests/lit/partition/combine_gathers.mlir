// All-gathers over the same devices become one, of any elements, up to a bucket of what they give:
// those along one dimension, and small ones along another, whose parts are put in order behind it.
// Not one that needs another.
// RUN: terrazzo opt %s -terrazzo-combine-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4x4xf32>, %arg1: tensor<2x2xi32>, %arg2: tensor<2048x1024xf32>, %arg3: tensor<3072x1024xf32>)
    -> (tensor<8x4xf32>, tensor<4x2xi32>, tensor<16x4xf32>, tensor<2x4xi32>, tensor<4096x1024xf32>, tensor<6144x1024xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  %2 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2x2xi32>) -> tensor<4x2xi32>
  %3 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<8x4xf32>) -> tensor<16x4xf32>
  %4 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2x2xi32>) -> tensor<2x4xi32>
  %5 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2048x1024xf32>) -> tensor<4096x1024xf32>
  %6 = "stablehlo.all_gather"(%arg3) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<3072x1024xf32>) -> tensor<6144x1024xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<8x4xf32>, tensor<4x2xi32>, tensor<16x4xf32>, tensor<2x4xi32>, tensor<4096x1024xf32>, tensor<6144x1024xf32>
}

// CHECK: func.func @main
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %arg1 : (tensor<2x2xi32>) -> tensor<1x4xi32>
// CHECK-NEXT: %[[G:.*]]:4 = "stablehlo.all_gather"(%arg0, %arg1, %[[R]], %arg2) <{all_gather_dim = 0
// CHECK-SAME: (tensor<4x4xf32>, tensor<2x2xi32>, tensor<1x4xi32>, tensor<2048x1024xf32>) -> (tensor<8x4xf32>, tensor<4x2xi32>, tensor<2x4xi32>, tensor<4096x1024xf32>)
// CHECK-NEXT: %[[P:.*]] = stablehlo.reshape %[[G]]#2 : (tensor<2x4xi32>) -> tensor<2x2x2xi32>
// CHECK-NEXT: %[[Q:.*]] = stablehlo.transpose %[[P]], dims = [1, 0, 2]
// CHECK-NEXT: %[[W:.*]] = stablehlo.reshape %[[Q]] : (tensor<2x2x2xi32>) -> tensor<2x4xi32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[G]]#0
// CHECK-NEXT: "stablehlo.all_gather"(%[[T]], %arg3) <{all_gather_dim = 0
// CHECK-NEXT: return %[[T]], %[[G]]#1, %{{.*}}#0, %[[W]],

// Large ones along another dimension stay apart.
// CHECK-LABEL: func.func @large
// CHECK-NEXT: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0
// CHECK-NEXT: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1
// CHECK-NEXT: return
func.func @large(%arg0: tensor<256x256xf32>) -> (tensor<512x256xf32>, tensor<256x512xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<256x256xf32>) -> tensor<512x256xf32>
  %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<256x256xf32>) -> tensor<256x512xf32>
  return %0, %1 : tensor<512x256xf32>, tensor<256x512xf32>
}
