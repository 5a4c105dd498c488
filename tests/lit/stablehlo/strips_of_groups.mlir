// Queries that share keys in groups: what goes through the groups first, as the transposes say, goes
// as the scores lie, so that these are done by strips; the result lies as it is wanted.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 0
// CHECK: strips [2,512,4]
// CHECK: reduce: loop [2,512,4,512]
// CHECK: maximum: loop [2,512,4] in %{{[0-9]+}}[2048,4,1] out %{{[0-9]+}}[2048,4,1]
// CHECK: exponential: loop [2,512,4,512]
// CHECK: dot b1 m2 n1 k1 [2,512,4,64,512] %{{[0-9]+}}[1048576,2048,512,0,1] %{{[0-9]+}}[64,0,0,1,128] -> %{{[0-9]+}}[256,512,64,1,0]
// CHECK-NOT: @1
func.func @main(%q: tensor<512x2x4x64xf32>, %k: tensor<512x2x64xf32>, %v: tensor<512x2x64xf32>) -> tensor<512x2x4x64xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %least = stablehlo.constant dense<-1.0e30> : tensor<4x2x512xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [1] x [1], contracting_dims = [3] x [2] : (tensor<512x2x4x64xf32>, tensor<512x2x64xf32>) -> tensor<2x512x4x512xf32>
  %t = stablehlo.transpose %s, dims = [2, 0, 1, 3] : (tensor<2x512x4x512xf32>) -> tensor<4x2x512x512xf32>
  %m0 = stablehlo.reduce(%t init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<4x2x512x512xf32>, tensor<f32>) -> tensor<4x2x512xf32>
  %m = stablehlo.maximum %m0, %least : tensor<4x2x512xf32>
  %mm = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<4x2x512xf32>) -> tensor<4x2x512x512xf32>
  %d = stablehlo.subtract %t, %mm : tensor<4x2x512x512xf32>
  %p = stablehlo.exponential %d : tensor<4x2x512x512xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [1] x [1], contracting_dims = [0] x [3] : (tensor<512x2x64xf32>, tensor<4x2x512x512xf32>) -> tensor<2x64x4x512xf32>
  %r = stablehlo.transpose %o, dims = [3, 0, 2, 1] : (tensor<2x64x4x512xf32>) -> tensor<512x2x4x64xf32>
  return %r : tensor<512x2x4x64xf32>
}
