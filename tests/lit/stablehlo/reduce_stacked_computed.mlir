// What is computed for a stack that is reduced is part of the loop that reduces it.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: workspace 0
// CHECK: @0 stablehlo.add: loop [6] in %{{[01]}}[1] %{{[01]}}[1] out %2[1]
// CHECK-NOT: @
func.func @main(%x: tensor<6xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %y : tensor<6xf32>
  %1 = stablehlo.add %x, %y : tensor<6xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
  %3 = stablehlo.reshape %1 : (tensor<6xf32>) -> tensor<1x6xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<2x6xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<6xf32>
  return %5 : tensor<6xf32>
}
