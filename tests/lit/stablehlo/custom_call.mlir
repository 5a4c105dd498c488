// stablehlo.custom_call
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @elsewhere(%arg0) {api_version = 2 : i32, backend_config = "x", has_side_effect = true} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:   %0 = stablehlo.custom_call @elsewhere(%arg0) {api_version = 2 : i32, backend_config = "x", has_side_effect = true} : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:   return %0 : tensor<8x4xf32>
// CHECK-NEXT: }
