// Rows that are not in one piece, since dims between what is combined are kept, are combined piece by
// piece, and then these; of small floats only where what is left is as exact as their sums in f32.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: reduce: loop [64,64,1,64] in %{{[0-9]+}}[4096,64,4096,1] out %[[A:[0-9]+]][64,1,0,0] {{.*}} reduce last 2
// CHECK-NEXT: reduce: loop [64,64] in %[[A]][1,64] out %{{[0-9]+}}[1,0] {{.*}} reduce last 1
// CHECK-NEXT: reduce: loop [8,16,16,16,1,1,16] in {{.*}} out %[[B:[0-9]+]][4096,256,16,1,0,0,0] {{.*}} max
// CHECK-NEXT: reduce: loop [16,16,16,8] in %[[B]][256,16,1,4096] out %[[C:[0-9]+]][256,16,1,0] {{.*}} max
// CHECK-NEXT: reduce: loop [16,16,16] in %[[C]][256,1,16] out {{.*}} max
// CHECK-NEXT: reduce: loop [64,64,64] in {{.*}} reduce last 2
func.func @main(%x: tensor<64x64x64xf32>, %y: tensor<8x16x16x16x16xbf16>, %z: tensor<64x64x64xbf16>) -> (tensor<64xf32>, tensor<16x16xbf16>, tensor<64xbf16>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.constant dense<0.0> : tensor<bf16>
  %a = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0, 2] : (tensor<64x64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %b = stablehlo.reduce(%y init: %1) applies stablehlo.maximum across dimensions = [0, 2, 4] : (tensor<8x16x16x16x16xbf16>, tensor<bf16>) -> tensor<16x16xbf16>
  %c = stablehlo.reduce(%z init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<64x64x64xbf16>, tensor<bf16>) -> tensor<64xbf16>
  return %a, %b, %c : tensor<64xf32>, tensor<16x16xbf16>, tensor<64xbf16>
}
