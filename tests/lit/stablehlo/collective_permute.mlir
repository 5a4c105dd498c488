// stablehlo.collective_permute
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:   %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 0{{\]\]}}> : tensor<2x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:   return %0 : tensor<8x4xf32>
// CHECK-NEXT: }
