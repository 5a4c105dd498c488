// What is computed, and then taken back to front or stacked with others, is computed where it is
// wanted.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: workspace 0
// CHECK: stablehlo.concatenate: loop [1,24] in %1[24,1] %2[24,1] out %5[24,1] %5+24[24,1]
// CHECK: stablehlo.concatenate: loop [4,1,6] in %0[6,6,1] %3[6,6,1] out %6[12,6,1] %6+6[12,6,1]
// CHECK: stablehlo.multiply: loop [4,6] in %0+5[6,-1] %0+23[-6,-1] out %4[6,1]
// CHECK-NOT: @
func.func @main(%x: tensor<4x6xf32>, %y: tensor<24xf32>, %z: tensor<24xf32>, %w: tensor<4x6xf32>)
    -> (tensor<4x6xf32>, tensor<2x24xf32>, tensor<4x2x6xf32>) {
  %0 = stablehlo.add %x, %x : tensor<4x6xf32>
  %1 = stablehlo.reverse %0, dims = [1] : tensor<4x6xf32>
  %2 = stablehlo.abs %x : tensor<4x6xf32>
  %3 = stablehlo.reverse %2, dims = [0, 1] : tensor<4x6xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<4x6xf32>
  %5 = stablehlo.negate %y : tensor<24xf32>
  %6 = stablehlo.add %z, %y : tensor<24xf32>
  %7 = stablehlo.reshape %5 : (tensor<24xf32>) -> tensor<1x24xf32>
  %8 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
  %9 = stablehlo.concatenate %7, %8, dim = 0 : (tensor<1x24xf32>, tensor<1x24xf32>) -> tensor<2x24xf32>
  %10 = stablehlo.sine %x : tensor<4x6xf32>
  %11 = stablehlo.cosine %w : tensor<4x6xf32>
  %12 = stablehlo.broadcast_in_dim %10, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
  %13 = stablehlo.broadcast_in_dim %11, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
  %14 = stablehlo.concatenate %12, %13, dim = 1 : (tensor<4x1x6xf32>, tensor<4x1x6xf32>) -> tensor<4x2x6xf32>
  return %4, %9, %14 : tensor<4x6xf32>, tensor<2x24xf32>, tensor<4x2x6xf32>
}
