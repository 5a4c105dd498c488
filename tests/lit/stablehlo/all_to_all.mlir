// stablehlo.all_to_all
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<16x2xf32> {
  %0 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<8x4xf32>) -> tensor<16x2xf32>
  return %0 : tensor<16x2xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<16x2xf32> {
// CHECK-NEXT:   %0 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 1], [2, 3{{\]\]}}> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<8x4xf32>) -> tensor<16x2xf32>
// CHECK-NEXT:   return %0 : tensor<16x2xf32>
// CHECK-NEXT: }
