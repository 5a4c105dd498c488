// stablehlo.composite
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.composite "mine.twice" %arg0 {decomposition = @twice, version = 1 : i32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @twice(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:   %0 = stablehlo.composite "mine.twice" %arg0 {decomposition = @twice, version = 1 : i32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:   return %0 : tensor<8x4xf32>
// CHECK-NEXT: }
// CHECK: func.func private @twice(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:   %0 = stablehlo.add %arg0, %arg0 : tensor<8x4xf32>
// CHECK-NEXT:   return %0 : tensor<8x4xf32>
// CHECK-NEXT: }
