// Reduce-scatters and permutations have one operand: small ones over the same devices become one of
// all their parts in a row. All-to-alls have several, of one form. What is the same is sent once.
// RUN: terrazzo opt %s -terrazzo-combine-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// Rows of both, each of which a device has the sum of; the maximum and what is large stay.
// CHECK-LABEL: func.func @scatters
// CHECK-NEXT: %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<8x3xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %arg1 : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[B]], dims = [1, 0, 2] : (tensor<2x4x1xf32>) -> tensor<4x2x1xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.reshape %[[T]] : (tensor<4x2x1xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[D:.*]] = stablehlo.concatenate %[[A]], %[[C]], dim = 1 : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[R:.*]] = "stablehlo.reduce_scatter"(%[[D]])
// CHECK-SAME: scatter_dimension = 0
// CHECK: stablehlo.add
// CHECK: : (tensor<4x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT: %[[E:.*]] = stablehlo.slice %[[R]] [0:1, 0:6]
// CHECK-NEXT: %[[F:.*]] = stablehlo.reshape %[[E]] : (tensor<1x6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[G:.*]] = stablehlo.slice %[[R]] [0:1, 6:8]
// CHECK-NEXT: %[[H:.*]] = stablehlo.reshape %[[G]] : (tensor<1x2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[M:.*]] = "stablehlo.reduce_scatter"(%arg0)
// CHECK: %[[L:.*]] = "stablehlo.reduce_scatter"(%arg2)
// CHECK: return %[[F]], %[[H]], %[[M]], %[[L]]
func.func @scatters(%arg0: tensor<8x3xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<1024x512xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>, tensor<256x512xf32>) {
  %0 = "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %2 = "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %3 = "stablehlo.reduce_scatter"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1024x512xf32>) -> tensor<256x512xf32>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>, tensor<256x512xf32>
}

// One of each direction; the second asks for what the first has. Other elements stay apart.
// CHECK-LABEL: func.func @neighbours
// CHECK: %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<1x6xf32>
// CHECK: %[[B:.*]] = stablehlo.reshape %arg1 : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 1
// CHECK: "stablehlo.collective_permute"(%[[C]])
// CHECK-SAME: dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
// CHECK: "stablehlo.collective_permute"(%arg0)
// CHECK-SAME: dense<{{\[\[}}1, 0], [2, 1], [3, 2]]>
// CHECK: "stablehlo.collective_permute"(%arg2)
// CHECK-NOT: collective_permute
// CHECK: return %[[F:.*]], %[[F]],
func.func @neighbours(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4xi32>) {
  %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @exchanges
// CHECK: %[[A:.*]] = stablehlo.reshape %arg1 : (tensor<2x8xi32>) -> tensor<2x4x2xi32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.transpose %[[A]], dims = [1, 0, 2]
// CHECK-NEXT: %[[C:.*]] = stablehlo.reshape %[[B]] : (tensor<4x2x2xi32>) -> tensor<4x1x4xi32>
// CHECK-NEXT: %[[R:.*]]:3 = "stablehlo.all_to_all"(%arg0, %[[N:.*]], %[[C]])
// CHECK-SAME: concat_dimension = 1
// CHECK-SAME: split_dimension = 0
// CHECK-SAME: (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x1x4xi32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x4x4xi32>)
// CHECK-NEXT: %[[D:.*]] = stablehlo.reshape %[[R]]#2 : (tensor<1x4x4xi32>) -> tensor<8x2xi32>
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[D]]
func.func @exchanges(%arg0: tensor<4x2xf32>, %arg1: tensor<2x8xi32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<8x2xi32>) {
  %n = stablehlo.negate %arg0 : tensor<4x2xf32>
  %0 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x2xf32>) -> tensor<1x8xf32>
  %1 = "stablehlo.all_to_all"(%n) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x2xf32>) -> tensor<1x8xf32>
  %2 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<2x8xi32>) -> tensor<8x2xi32>
  return %0, %1, %2 : tensor<1x8xf32>, tensor<1x8xf32>, tensor<8x2xi32>
}
