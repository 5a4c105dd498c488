// Concatenations and pads that only slices use are not written: each slice copies its own boxes of
// them, or is a view.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: program: 1 x 1 devices, workspace 0
func.func @main(%x: tensor<256x128xf32>, %y: tensor<256x64xf32>) -> (tensor<510x128xf32>, tensor<256xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<256x128xf32>, tensor<f32>) -> tensor<258x130xf32>
  %1 = stablehlo.concatenate %0, %0, dim = 0 : (tensor<258x130xf32>, tensor<258x130xf32>) -> tensor<516x130xf32>
  %2 = stablehlo.slice %1 [3:513, 1:129] : (tensor<516x130xf32>) -> tensor<510x128xf32>
  %3 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<256x128xf32>, tensor<256x64xf32>) -> tensor<256x192xf32>
  %4 = stablehlo.slice %3 [0:256, 128:192] : (tensor<256x192xf32>) -> tensor<256x64xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x64xf32>, tensor<f32>) -> tensor<256xf32>
  return %2, %5 : tensor<510x128xf32>, tensor<256xf32>
}
// CHECK: stablehlo.reduce: loop [256,64] in %1[64,1] out %3
// CHECK-NEXT: stablehlo.slice: copy [254,128] %0+256[128,1] -> %2[128,1]
// CHECK-NEXT: stablehlo.slice: loop [1,128] in out %2+32512[128,1]
// CHECK-NEXT: stablehlo.slice: copy [254,128] %0[128,1] -> %2+32768[128,1]
// CHECK-NEXT: stablehlo.slice: loop [1,128] in out %2+32640[128,1]
