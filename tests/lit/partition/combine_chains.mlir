// Chains of all-reduces that do not need each other meet step by step. The first results of two
// steps are used in between, and the two kinds of groups are kept apart.
// RUN: terrazzo opt %s -terrazzo-combine-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.negate %0 : tensor<f32>
  %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %4 = stablehlo.tanh %3 : tensor<f32>
  %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %6 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %7 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %8 = stablehlo.add %6, %7 : tensor<f32>
  return %2, %5, %8 : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK: %[[A:.*]]:2 = "stablehlo.all_reduce"(%arg0, %arg1)
// CHECK: %[[N:.*]] = stablehlo.negate %[[A]]#0
// CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[A]]#1
// CHECK-NEXT: %[[B:.*]]:2 = "stablehlo.all_reduce"(%[[N]], %[[T]])
// CHECK: %[[C:.*]] = "stablehlo.all_reduce"(%arg0) <{replica_groups
// CHECK: %[[D:.*]] = "stablehlo.all_reduce"(%arg1) <{channel_handle
// CHECK: %[[S:.*]] = stablehlo.add %[[C]], %[[D]]
// CHECK: return %[[B]]#0, %[[B]]#1, %[[S]]
