// As jnp.polyder has it: numbers that are seen under one more dimension, reduced along that, and
// taken back to front are computed where they are wanted, of an index of 32 bits.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 0
// CHECK: i32=iota 0
// CHECK-NOT: i64=iota
// CHECK: steps 1,
func.func @f(%x: tensor<5xf32>) -> tensor<4xf32> {
  %init = stablehlo.constant dense<1.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %n = stablehlo.iota dim = 0 : tensor<4xf32>
  %0 = stablehlo.add %one, %n : tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<1x4xf32>
  %3 = stablehlo.reduce(%2 init: %init) applies stablehlo.multiply across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<4xf32>
  %5 = stablehlo.slice %x [0:4] : (tensor<5xf32>) -> tensor<4xf32>
  %6 = stablehlo.multiply %5, %4 : tensor<4xf32>
  return %6 : tensor<4xf32>
}
func.func @main(%x: tensor<5xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%x) : (tensor<5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
