// What is repeated along two dimensions, with a reshape between, is written once; but where the
// second one is the last, along which single elements are repeated.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: copy [2,3,2,5,2,4] %0[60,20,0,4,0,1] -> %2[240,80,40,8,4,1]
// CHECK: copy [2,3,2,4]
// CHECK: copy
// CHECK-NOT: copy
func.func @main(%x: tensor<2x3x5x4xf32>, %y: tensor<2x3x4xf32>) -> (tensor<2x6x10x4xf32>, tensor<2x6x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1, 3, 4] : (tensor<2x3x5x4xf32>) -> tensor<2x3x2x5x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x3x2x5x4xf32>) -> tensor<2x6x5x4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 4] : (tensor<2x6x5x4xf32>) -> tensor<2x6x5x2x4xf32>
  %3 = stablehlo.reshape %2 : (tensor<2x6x5x2x4xf32>) -> tensor<2x6x10x4xf32>
  %4 = stablehlo.broadcast_in_dim %y, dims = [0, 1, 3] : (tensor<2x3x4xf32>) -> tensor<2x3x2x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<2x3x2x4xf32>) -> tensor<2x6x4xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x6x4xf32>) -> tensor<2x6x4x2xf32>
  %7 = stablehlo.reshape %6 : (tensor<2x6x4x2xf32>) -> tensor<2x6x8xf32>
  return %3, %7 : tensor<2x6x10x4xf32>, tensor<2x6x8xf32>
}
