// A donated argument's memory is free from where it was read last to where the result that takes it
// over is written: for one matrix at a time, though a gap and what is in front of a result's first
// write are the same there.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 32768
// CHECK: %3 = work at 0 : f32 x 4096
// CHECK-NEXT: %4 = work at 0 of result 0 : f32 x 4096
// CHECK-NEXT: %5 = work at 16384 : f32 x 4096
// CHECK-NEXT: %6 = work at 0 : f32 x 4096
func.func @main(%a: tensor<64x64xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = stablehlo.dot_general %y, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = stablehlo.dot_general %y, %z, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = stablehlo.dot_general %u, %z, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = stablehlo.dot_general %v, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
