// What a loop has as components it multiplies with vectors as sums of their products: nothing is
// stacked for a product, and a step is one loop.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: jump_unless
// CHECK-NOT: dot_general
// CHECK-NOT: concatenate
// CHECK: jump @
func.func @main(%u: tensor<64x3xf32>) -> tensor<64x3xf32> {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %p = %u) : tensor<i32>, tensor<64x3xf32>
  cond {
    %most = stablehlo.constant dense<9> : tensor<i32>
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %axis = stablehlo.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
    %k = stablehlo.reshape %axis : (tensor<1x3xf32>) -> tensor<3xf32>
    %1 = stablehlo.slice %p [0:64, 0:1] : (tensor<64x3xf32>) -> tensor<64x1xf32>
    %x = stablehlo.reshape %1 : (tensor<64x1xf32>) -> tensor<64xf32>
    %2 = stablehlo.slice %p [0:64, 1:2] : (tensor<64x3xf32>) -> tensor<64x1xf32>
    %y = stablehlo.reshape %2 : (tensor<64x1xf32>) -> tensor<64xf32>
    %s = stablehlo.dot_general %p, %p, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<64x3xf32>, tensor<64x3xf32>) -> tensor<64xf32>
    %t = stablehlo.dot_general %k, %p, contracting_dims = [0] x [1] : (tensor<3xf32>, tensor<64x3xf32>) -> tensor<64xf32>
    %xy = stablehlo.multiply %x, %s : tensor<64xf32>
    %yz = stablehlo.multiply %y, %t : tensor<64xf32>
    %a = stablehlo.reshape %xy : (tensor<64xf32>) -> tensor<64x1xf32>
    %b = stablehlo.reshape %yz : (tensor<64xf32>) -> tensor<64x1xf32>
    %c = stablehlo.reshape %s : (tensor<64xf32>) -> tensor<64x1xf32>
    %3 = stablehlo.concatenate %a, %b, %c, dim = 1 : (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x3xf32>
    stablehlo.return %next, %3 : tensor<i32>, tensor<64x3xf32>
  }
  return %0#1 : tensor<64x3xf32>
}
