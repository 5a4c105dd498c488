// What a loop computes anew each time though it stays the same is computed in front of it: what
// takes a step of its own or long, also out of two loops at once, and what such a step reads.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: dot_general: dot b0 m1 n1 k1 [16,16,32] %0[1,0,16] %0[0,1,16] -> %[[XX:[0-9]+]]
// CHECK-NEXT: reduce: loop [16,16] in %[[XX]][16,1] out %[[SUM:[0-9]+]]
// CHECK-NEXT: convert: loop [16,16] in %1[16,1] out %[[W:[0-9]+]][16,1]
// CHECK-NEXT: exponential: loop [16] in %[[SUM]][1] out %[[E:[0-9]+]]
// CHECK: jump_unless
// CHECK-NEXT: while: loop [1]
// CHECK-NEXT: compare: loop []
// CHECK-NEXT: jump_unless
// CHECK-NEXT: dot_general: dot b0 m1 n1 k1 [4,16,16] {{.*}} %[[W]][0,1,16]
// CHECK-NEXT: add: loop []
// CHECK-NEXT: tanh: loop [4,16] in {{.*}} %[[E]][0,1]
// CHECK-NEXT: jump @
func.func @main(%x: tensor<32x16xf32>, %w: tensor<16x16xbf16>, %h: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %n, %p = %h, %y = %x, %v = %w) : tensor<i32>, tensor<4x16xf32>, tensor<32x16xf32>, tensor<16x16xbf16>
  cond {
    %most = stablehlo.constant dense<9> : tensor<i32>
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %1:3 = stablehlo.while(%j = %n, %q = %p, %z = %y) : tensor<i32>, tensor<4x16xf32>, tensor<32x16xf32>
    cond {
      %most = stablehlo.constant dense<5> : tensor<i32>
      %c = stablehlo.compare LT, %j, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %after = stablehlo.add %j, %one : tensor<i32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %t = stablehlo.transpose %z, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
      %xx = stablehlo.dot_general %t, %z, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
      %sum = stablehlo.reduce(%xx init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
      %e = stablehlo.exponential %sum : tensor<16xf32>
      %all = stablehlo.broadcast_in_dim %e, dims = [1] : (tensor<16xf32>) -> tensor<4x16xf32>
      %f = stablehlo.convert %v : (tensor<16x16xbf16>) -> tensor<16x16xf32>
      %m = stablehlo.dot_general %q, %f, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
      %k = stablehlo.add %m, %all : tensor<4x16xf32>
      %r = stablehlo.tanh %k : tensor<4x16xf32>
      stablehlo.return %after, %r, %z : tensor<i32>, tensor<4x16xf32>, tensor<32x16xf32>
    }
    stablehlo.return %next, %1#1, %y, %v : tensor<i32>, tensor<4x16xf32>, tensor<32x16xf32>, tensor<16x16xbf16>
  }
  return %0#1 : tensor<4x16xf32>
}
