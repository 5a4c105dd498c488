// propagation, the table of C = dot(A, B): a batching factor, one of each side, a contracting one.
// RUN: terrazzo opt %s --pass-pipeline='func.func(sdy-populate-op-sharding-rules)' | FileCheck %s

func.func @main(%arg0: tensor<2x8x32xf32>, %arg1: tensor<2x32x16xf32>) -> tensor<2x8x16xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x32xf32>, tensor<2x32x16xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}

// CHECK: func.func @main(%arg0: tensor<2x8x32xf32>, %arg1: tensor<2x32x16xf32>) -> tensor<2x8x16xf32> {
// CHECK-NEXT:   %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=8, k=16, l=32} reduction={l}>} : (tensor<2x8x32xf32>, tensor<2x32x16xf32>) -> tensor<2x8x16xf32>
// CHECK-NEXT:   return %0 : tensor<2x8x16xf32>
// CHECK-NEXT: }
