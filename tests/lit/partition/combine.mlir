// Independent all-reduces over the same devices are one; what lies between and needs a result moves
// behind it. The last one needs the others.
// RUN: terrazzo opt %s -terrazzo-combine-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = stablehlo.negate %arg1 : tensor<2xf32>
  %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %4 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %3, %4 : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %0 = stablehlo.negate %arg1 : tensor<2xf32>
// CHECK-NEXT:   %1:2 = "stablehlo.all_reduce"(%arg0, %0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1{{\]\]}}> : tensor<1x2xi64>, use_global_device_ids}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT:     %4 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %4 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>)
// CHECK-NEXT:   %2 = stablehlo.tanh %1#0 : tensor<4xf32>
// CHECK-NEXT:   %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<{{\[\[}}0, 1{{\]\]}}> : tensor<1x2xi64>, use_global_device_ids}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT:     %4 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %4 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return %2, %1#1, %3 : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
// CHECK-NEXT: }
