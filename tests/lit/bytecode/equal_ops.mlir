// Ops that share their properties in portable artifacts: those of one kind and of others, with
// attributes of their own and without.
// RUN: terrazzo opt %s -o %t.mlir
// RUN: terrazzo opt %s --emit-bytecode | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=1.4.0 | terrazzo opt | diff %t.mlir -
// RUN: FileCheck %s < %t.mlir
func.func public @main(%arg0: tensor<4x4xf32>, %arg1: tensor<2xui32>) -> tensor<4x4xf32> {
  // CHECK: transpose %arg0, dims = [1, 0]
  // CHECK-NEXT: transpose %0, dims = [1, 0] {mhlo.frontend_attributes = {a = "b"}}
  // CHECK-NEXT: transpose %1, dims = [1, 0]
  // CHECK-NEXT: broadcast_in_dim %2, dims = [1, 0]
  // CHECK-NEXT: reverse %3, dims = [1, 0]
  // CHECK-NEXT: transpose %4, dims = [0, 1]
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] {mhlo.frontend_attributes = {a = "b"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.reverse %3, dims = [1, 0] : tensor<4x4xf32>
  %5 = stablehlo.transpose %4, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: cholesky %5, lower = true
  // CHECK-NEXT: cholesky %6
  // CHECK-NEXT: cholesky %7, lower = true
  %6 = stablehlo.cholesky %5, lower = true : tensor<4x4xf32>
  %7 = stablehlo.cholesky %6, lower = false : tensor<4x4xf32>
  %8 = stablehlo.cholesky %7, lower = true : tensor<4x4xf32>
  return %8 : tensor<4x4xf32>
}
