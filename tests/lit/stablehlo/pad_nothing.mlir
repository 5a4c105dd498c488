// A pad that adds no element is another look at its operand.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: program: 1 x 1 devices, workspace 0
func.func @main(%x: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<5xf32>, tensor<0xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.pad %x, %zero, low = [-1, -3], high = [-2, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<5x13xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x13xf32>, tensor<f32>) -> tensor<5xf32>
  %4 = stablehlo.pad %x, %zero, low = [-8, 0], high = [0, 0], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<0x16xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<0x16xf32>, tensor<f32>) -> tensor<0xf32>
  return %1, %3, %5 : tensor<8xf32>, tensor<5xf32>, tensor<0xf32>
}
// CHECK-NOT: stablehlo.pad
// CHECK: stablehlo.reduce: loop [8,16] in %0[16,1] out %1
// CHECK-NOT: stablehlo.pad
// CHECK: stablehlo.reduce: loop [5,13] in %0+19[16,1] out %2
// CHECK-NOT: stablehlo.pad
