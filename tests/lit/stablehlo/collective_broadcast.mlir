// stablehlo.collective_broadcast
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:   %0 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3{{\]\]}}> : tensor<2x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:   return %0 : tensor<8x4xf32>
// CHECK-NEXT: }
