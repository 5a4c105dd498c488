// stablehlo.iota
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xi32> {
  %0 = stablehlo.iota dim = 1 : tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xi32> {
// CHECK-NEXT:   %0 = stablehlo.iota dim = 1 : tensor<8x4xi32>
// CHECK-NEXT:   return %0 : tensor<8x4xi32>
// CHECK-NEXT: }
