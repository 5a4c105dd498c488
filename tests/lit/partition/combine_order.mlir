// A layer's sums in a row go first; those of gradients, over other devices, wait for each other, and
// so do the sums of the norm that are made of these. Were the first of them taken along with a
// layer's sum, the next layer would wait for a gradient.
// RUN: terrazzo opt %s -terrazzo-combine-collectives | FileCheck %s

sdy.mesh @mesh = <["y"=2, "x"=2]>

// CHECK: %[[A:.*]] = "stablehlo.all_reduce"(%arg0)
// CHECK-SAME: dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK: %[[T:.*]] = stablehlo.tanh %[[A]]
// CHECK: %[[B:.*]] = "stablehlo.all_reduce"(%[[T]])
// CHECK-SAME: dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK: %[[G:.*]] = stablehlo.tanh %[[B]]
// CHECK: %[[D:.*]]:2 = "stablehlo.all_reduce"(%arg1, %[[G]])
// CHECK-SAME: dense<{{\[\[}}0, 2], [1, 3]]>
// CHECK: %[[M:.*]] = stablehlo.multiply %[[D]]#0, %[[D]]#0
// CHECK: %[[N:.*]] = stablehlo.multiply %[[D]]#1, %[[D]]#1
// CHECK: %[[S:.*]]:2 = "stablehlo.all_reduce"(%[[M]], %[[N]])
// CHECK-SAME: dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK: stablehlo.add %[[S]]#0, %[[S]]#1
// CHECK-NOT: all_reduce
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %d0 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %m = stablehlo.multiply %d0, %d0 : tensor<4xf32>
  %n0 = "stablehlo.all_reduce"(%m) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.tanh %2 : tensor<4xf32>
  %d1 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %n = stablehlo.multiply %d1, %d1 : tensor<4xf32>
  %n1 = "stablehlo.all_reduce"(%n) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %norm = stablehlo.add %n0, %n1 : tensor<4xf32>
  return %norm : tensor<4xf32>
}

// One sum takes long by itself: a short one beside it is free, another long one stays apart.
// CHECK-LABEL: func.func @long
// CHECK: "stablehlo.all_reduce"(%arg0, %arg1)
// CHECK: "stablehlo.all_reduce"(%arg2)
func.func @long(%arg0: tensor<9000000xf32>, %arg1: tensor<4xf32>, %arg2: tensor<9000000xf32>) -> (tensor<9000000xf32>, tensor<4xf32>, tensor<9000000xf32>) {
  %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9000000xf32>) -> tensor<9000000xf32>
  %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9000000xf32>) -> tensor<9000000xf32>
  return %0, %1, %2 : tensor<9000000xf32>, tensor<4xf32>, tensor<9000000xf32>
}
