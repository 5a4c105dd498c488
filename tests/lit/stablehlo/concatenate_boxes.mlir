// What elementwise ops read of concatenations and pads is not written: there is a loop for each box
// in which all they read is in one piece.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: program: 1 x 1 devices, workspace 0
func.func @main(%x: tensor<256x128xf32>) -> tensor<256x128xf32> {
  %0 = stablehlo.slice %x [255:256, 0:128] : (tensor<256x128xf32>) -> tensor<1x128xf32>
  %1 = stablehlo.slice %x [0:255, 0:128] : (tensor<256x128xf32>) -> tensor<255x128xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x128xf32>, tensor<255x128xf32>) -> tensor<256x128xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.pad %x, %zero, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<256x128xf32>, tensor<f32>) -> tensor<256x129xf32>
  %4 = stablehlo.slice %3 [0:256, 1:129] : (tensor<256x129xf32>) -> tensor<256x128xf32>
  %5 = stablehlo.add %2, %4 : tensor<256x128xf32>
  %6 = stablehlo.multiply %5, %x : tensor<256x128xf32>
  return %6 : tensor<256x128xf32>
}
// CHECK: loop [1,127] in %0+32640[128,1] %0+1[128,1] %0[128,1] out %1[128,1] {
// CHECK-NEXT: loop [1,1] in %0+32767[128,1] %0+127[128,1] out %1+127[128,1] { v0:f32=load 0; v1:f32=constant 0;
// CHECK-NEXT: loop [255,127] in %0[128,1] %0+129[128,1] %0+128[128,1] out %1+128[128,1] {
// CHECK-NEXT: loop [255,1] in %0+127[128,1] %0+255[128,1] out %1+255[128,1] { v0:f32=load 0; v1:f32=constant 0;
// CHECK-NOT: @4
