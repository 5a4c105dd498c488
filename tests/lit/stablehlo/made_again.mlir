// What waits for a step far below while the most memory is in use, and is little work to make of
// what is there anyhow, is made again there: %v, but not %t, which a tanh would make.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: workspace 7340032
// CHECK: @1 stablehlo.multiply: loop {{.*}} in %[[A:[0-9]+]][1024,1] out %[[T:[0-9]+]][1024,1] %[[V:[0-9]+]][1024,1] {{.*}}tanh
// CHECK-NEXT: dot_general: dot {{.*}} %[[V]][1024,0,1]
// CHECK-NOT: %[[V]][
// CHECK: multiply: loop {{.*}} in %[[A]][1024,1] %[[T]][1024,1] out %[[AGAIN:[0-9]+]][1024,1] { v0:f32=load 0; v1:f32=load 1; v2:f32=mul v1 v0; out0=v2; }
// CHECK-NEXT: dot_general: dot {{.*}} %[[AGAIN]][1024,0,1]
func.func @main(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<512x1024xf32> {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %t = stablehlo.tanh %a : tensor<512x1024xf32>
  %v = stablehlo.multiply %t, %a : tensor<512x1024xf32>
  %b = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [1] : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %d = stablehlo.dot_general %v, %c, contracting_dims = [1] x [1] : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x512xf32>
  %e = stablehlo.dot_general %d, %a, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %r = stablehlo.multiply %e, %t : tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}
