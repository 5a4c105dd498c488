// Parts of rows that are computed of the same values are computed in one loop, be they only put
// together (a rotation of halves) or computed on as well (in boxes); rows that are whole are not.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

func.func @main(%x: tensor<64x128xf32>, %c: tensor<64x64xf32>, %w: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<128x64xf32>) {
  %a = stablehlo.slice %x [0:64, 0:64] : (tensor<64x128xf32>) -> tensor<64x64xf32>
  %b = stablehlo.slice %x [0:64, 64:128] : (tensor<64x128xf32>) -> tensor<64x64xf32>
  %0 = stablehlo.multiply %a, %c : tensor<64x64xf32>
  %1 = stablehlo.multiply %b, %c : tensor<64x64xf32>
  %2 = stablehlo.concatenate %1, %0, dim = 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x128xf32>
  %3 = stablehlo.concatenate %b, %a, dim = 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x128xf32>
  %4 = stablehlo.multiply %3, %w : tensor<64x128xf32>
  %5 = stablehlo.add %4, %x : tensor<64x128xf32>
  %6 = stablehlo.add %a, %b : tensor<64x64xf32>
  %7 = stablehlo.subtract %a, %b : tensor<64x64xf32>
  %8 = stablehlo.concatenate %6, %7, dim = 0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  return %2, %5, %8 : tensor<64x128xf32>, tensor<64x128xf32>, tensor<128x64xf32>
}
// CHECK: stablehlo.add: loop [64,64] in %0+64[128,1] %2[128,1] %0[128,1] %2+64[128,1] out %4[128,1] %4+64[128,1]
// CHECK-NEXT: stablehlo.concatenate: loop [64,64] in %0+64[128,1] %1[64,1] %0[128,1] out %3[128,1] %3+64[128,1]
// CHECK-NEXT: stablehlo.concatenate: loop [64,64] in %0[128,1] %0+64[128,1] out %5[64,1]
// CHECK-NEXT: stablehlo.concatenate: loop [64,64] in %0[128,1] %0+64[128,1] out %5+4096[64,1]
