// A loop that carries points as rows of three numbers, takes them apart in each step and stacks what
// it computes of them, has each component by itself: a step is one loop, whichever way it stacks.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: stablehlo.while: copy [64] %0[3] -> %[[X:[0-9]+]][1]
// CHECK-NEXT: stablehlo.while: copy [64] %0+1[3] -> %[[Y:[0-9]+]][1]
// CHECK-NEXT: stablehlo.while: copy [64] %0+2[3] -> %[[Z:[0-9]+]][1]
// CHECK: jump_unless
// CHECK-NEXT: loop []
// CHECK-NEXT: loop [64] in %[[X]][1] %[[Y]][1] %[[Z]][1] out %[[X]][1] %[[Y]][1] %[[Z]][1]
// CHECK-NEXT: jump @
// CHECK-NEXT: concatenate: loop [64,1] in %[[X]][1,0] %[[Y]][1,0] %[[Z]][1,0] out %1[3,1] %1+1[3,1] %1+2[3,1]
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
    %h = stablehlo.constant dense<0.5> : tensor<3x64xf32>
    %1 = stablehlo.slice %p [0:64, 0:1] : (tensor<64x3xf32>) -> tensor<64x1xf32>
    %x = stablehlo.reshape %1 : (tensor<64x1xf32>) -> tensor<64xf32>
    %2 = stablehlo.slice %p [0:64, 1:2] : (tensor<64x3xf32>) -> tensor<64x1xf32>
    %y = stablehlo.reshape %2 : (tensor<64x1xf32>) -> tensor<64xf32>
    %3 = stablehlo.slice %p [0:64, 2:3] : (tensor<64x3xf32>) -> tensor<64x1xf32>
    %z = stablehlo.reshape %3 : (tensor<64x1xf32>) -> tensor<64xf32>
    %xy = stablehlo.multiply %x, %y : tensor<64xf32>
    %yz = stablehlo.multiply %y, %z : tensor<64xf32>
    %zx = stablehlo.multiply %z, %x : tensor<64xf32>
    %a = stablehlo.broadcast_in_dim %xy, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %b = stablehlo.broadcast_in_dim %yz, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %c = stablehlo.broadcast_in_dim %zx, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %4 = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<3x64xf32>
    %5 = stablehlo.multiply %h, %4 : tensor<3x64xf32>
    %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %7 = stablehlo.add %p, %6 : tensor<64x3xf32>
    stablehlo.return %next, %7 : tensor<i32>, tensor<64x3xf32>
  }
  return %0#1 : tensor<64x3xf32>
}

