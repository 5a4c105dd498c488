// A call that stays in place; shardings go through its edges.
// RUN: terrazzo opt %s | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> tensor<8x8xf32> {
  %0 = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8x8xf32>) {
    %1 = stablehlo.tanh %arg1 : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0 = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8x8xf32>) {
// CHECK-NEXT:     %1 = stablehlo.tanh %arg1 : tensor<8x8xf32>
// CHECK-NEXT:     sdy.return %1 : tensor<8x8xf32>
// CHECK-NEXT:   } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT:   return %0 : tensor<8x8xf32>
// CHECK-NEXT: }
