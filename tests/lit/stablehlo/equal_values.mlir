// What two ops say alike is computed once; who looks at it turned gets it from the same loop.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: stablehlo.reduce: loop
// CHECK-SAME: sum
// CHECK-NOT: reduce last
// CHECK: stablehlo.exponential: loop [4096,64]
// CHECK-SAME: out %{{[0-9]+}}[64,1] %{{[0-9]+}}[64,1] {
func.func @main(%x: tensor<4096x64xf32>) -> (tensor<4096xf32>, tensor<4096x64xf32>, tensor<64x4096xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x64xf32>, tensor<f32>) -> tensor<4096xf32>
  %b = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x64xf32>, tensor<f32>) -> tensor<4096xf32>
  %c = stablehlo.multiply %a, %b : tensor<4096xf32>
  %square = stablehlo.multiply %x, %x : tensor<4096x64xf32>
  %e = stablehlo.exponential %square : tensor<4096x64xf32>
  %t = stablehlo.transpose %square, dims = [1, 0] : (tensor<4096x64xf32>) -> tensor<64x4096xf32>
  %l = stablehlo.logistic %t : tensor<64x4096xf32>
  return %c, %e, %l : tensor<4096xf32>, tensor<4096x64xf32>, tensor<64x4096xf32>
}
