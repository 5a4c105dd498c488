// propagation, compound factors: reshapes that merge, split, and do both.
// RUN: terrazzo opt %s --pass-pipeline='func.func(sdy-populate-op-sharding-rules)' | FileCheck %s

func.func @merge(%arg0: tensor<2x4x32xf32>) -> tensor<8x32xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<2x4x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
func.func @split(%arg0: tensor<8x32xf32>) -> tensor<2x4x32xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<8x32xf32>) -> tensor<2x4x32xf32>
  return %0 : tensor<2x4x32xf32>
}
func.func @both(%arg0: tensor<8x4xf32>) -> tensor<2x16xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<8x4xf32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// CHECK: func.func @merge(%arg0: tensor<2x4x32xf32>) -> tensor<8x32xf32> {
// CHECK-NEXT:   %0 = stablehlo.reshape %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([ij, k]) {i=2, j=4, k=32}>} : (tensor<2x4x32xf32>) -> tensor<8x32xf32>
// CHECK-NEXT:   return %0 : tensor<8x32xf32>
// CHECK-NEXT: }
// CHECK: func.func @split(%arg0: tensor<8x32xf32>) -> tensor<2x4x32xf32> {
// CHECK-NEXT:   %0 = stablehlo.reshape %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, j, k]) {i=2, j=4, k=32}>} : (tensor<8x32xf32>) -> tensor<2x4x32xf32>
// CHECK-NEXT:   return %0 : tensor<2x4x32xf32>
// CHECK-NEXT: }
// CHECK: func.func @both(%arg0: tensor<8x4xf32>) -> tensor<2x16xf32> {
// CHECK-NEXT:   %0 = stablehlo.reshape %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, jk]) {i=2, j=4, k=4}>} : (tensor<8x4xf32>) -> tensor<2x16xf32>
// CHECK-NEXT:   return %0 : tensor<2x16xf32>
// CHECK-NEXT: }
