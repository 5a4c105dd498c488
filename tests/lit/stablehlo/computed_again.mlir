// What is cheap to compute from what a loop stores anyway is not stored beside it, as the factors of
// a gradient are: 1 - tanh x and what 1 + tanh x is multiplied with. What a product reads is.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<64x32xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<64x32xf32>
  %half = stablehlo.constant dense<0.5> : tensor<64x32xf32>
  %t = stablehlo.tanh %x : tensor<64x32xf32>
  %a = stablehlo.subtract %one, %t : tensor<64x32xf32>
  %b = stablehlo.add %one, %t : tensor<64x32xf32>
  %c = stablehlo.multiply %half, %b : tensor<64x32xf32>
  %y = stablehlo.multiply %x, %c : tensor<64x32xf32>
  %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %g = stablehlo.multiply %z, %a : tensor<64x32xf32>
  %h = stablehlo.multiply %z, %c : tensor<64x32xf32>
  %i = stablehlo.multiply %h, %t : tensor<64x32xf32>
  %r = stablehlo.add %g, %i : tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// CHECK: workspace 16384
// CHECK: @0 stablehlo.multiply: loop [64,32] in %0[32,1] out %[[T:[0-9]+]][32,1] %[[Y:[0-9]+]][32,1] {
// CHECK-SAME: v1:f32=tanh v0;
// CHECK-SAME: out0=v1;
// CHECK-NEXT: @1 stablehlo.dot_general: {{.*}} %[[Y]][32,0,1] %1[0,1,32] -> %[[Z:[0-9]+]][32,1,0]
// CHECK-NEXT: @2 stablehlo.add: loop [64,32] in %[[Z]][32,1] %[[T]][32,1] out
// CHECK-NOT: tanh
