// stablehlo.replica_id
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<ui32> {
  %0 = stablehlo.replica_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<ui32> {
// CHECK-NEXT:   %0 = stablehlo.replica_id : tensor<ui32>
// CHECK-NEXT:   return %0 : tensor<ui32>
// CHECK-NEXT: }
