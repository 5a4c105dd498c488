// What is multiplied with probabilities may be the first operand, as where heads lie inside of
// positions: scores are done by strips and never whole.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 0
// CHECK: strips [2,512]
// CHECK: dot b1 m1 n1 k1 [2,512,64,512] %{{[0-9]+}}[262144,512,0,1] %{{[0-9]+}}[64,0,1,128] -> %{{[0-9]+}}[64,128,1,0]
// CHECK-NOT: @1
func.func @main(%q: tensor<512x2x64xf32>, %k: tensor<512x2x64xf32>, %v: tensor<512x2x64xf32>) -> tensor<512x2x64xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<512x2x64xf32>, tensor<512x2x64xf32>) -> tensor<2x512x512xf32>
  %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<2x512x512xf32>, tensor<f32>) -> tensor<2x512xf32>
  %mm = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x512xf32>) -> tensor<2x512x512xf32>
  %d = stablehlo.subtract %s, %mm : tensor<2x512x512xf32>
  %p = stablehlo.exponential %d : tensor<2x512x512xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [1] x [0], contracting_dims = [0] x [2] : (tensor<512x2x64xf32>, tensor<2x512x512xf32>) -> tensor<2x64x512xf32>
  %r = stablehlo.transpose %o, dims = [2, 0, 1] : (tensor<2x64x512xf32>) -> tensor<512x2x64xf32>
  return %r : tensor<512x2x64xf32>
}
