// Large temporaries get places first where that takes less than as they come: %x and %y, of 64 bytes
// each, would leave no hole for %z, which lives beside %y only.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 192
// CHECK: work at 0 : f32 x 16
// CHECK: work at 128 : f32 x 16
// CHECK: work at 0 : f32 x 32
func.func @main(%a: tensor<16x16xf32>, %b: tensor<32x16xf32>, %p: tensor<16xf32>) -> tensor<2xf32> {
  %x = stablehlo.dot_general %a, %p, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %y = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %z = stablehlo.dot_general %b, %p, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %rows = stablehlo.reshape %z : (tensor<32xf32>) -> tensor<2x16xf32>
  %r = stablehlo.dot_general %rows, %y, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
