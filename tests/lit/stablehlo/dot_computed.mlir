// Weights that are scaled in front of a product with a vector are scaled where it sums up: by
// columns, by rows, and by groups of rows, whose reshapes make no difference. Of two vectors they
// are written once.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

func.func @main(%x: tensor<1x512xf32>, %w: tensor<512x256xi8>, %c: tensor<1x256xf32>, %a: tensor<512x256xi8>, %r: tensor<512x1xf32>,
                %b: tensor<512x256xi8>, %g: tensor<8x256xf32>, %v: tensor<256xf32>, %y: tensor<2x512xf32>, %d: tensor<512x256xi8>)
    -> (tensor<1x256xf32>, tensor<1x512xf32>, tensor<1x256xf32>, tensor<2x256xf32>) {
  %0 = stablehlo.convert %w : (tensor<512x256xi8>) -> tensor<512x256xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<1x256xf32>) -> tensor<512x256xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<512x256xf32>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<1x512xf32>, tensor<512x256xf32>) -> tensor<1x256xf32>
  %4 = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<512x1xf32>) -> tensor<512x256xf32>
  %5 = stablehlo.convert %a : (tensor<512x256xi8>) -> tensor<512x256xf32>
  %6 = stablehlo.multiply %5, %4 : tensor<512x256xf32>
  %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<512x256xf32>) -> tensor<256x512xf32>
  %8 = stablehlo.reshape %v : (tensor<256xf32>) -> tensor<1x256xf32>
  %9 = stablehlo.dot_general %8, %7, contracting_dims = [1] x [0] : (tensor<1x256xf32>, tensor<256x512xf32>) -> tensor<1x512xf32>
  %10 = stablehlo.convert %b : (tensor<512x256xi8>) -> tensor<512x256xf32>
  %11 = stablehlo.reshape %10 : (tensor<512x256xf32>) -> tensor<8x64x256xf32>
  %12 = stablehlo.broadcast_in_dim %g, dims = [0, 2] : (tensor<8x256xf32>) -> tensor<8x64x256xf32>
  %13 = stablehlo.multiply %11, %12 : tensor<8x64x256xf32>
  %14 = stablehlo.reshape %13 : (tensor<8x64x256xf32>) -> tensor<512x256xf32>
  %15 = stablehlo.dot_general %x, %14, contracting_dims = [1] x [0] : (tensor<1x512xf32>, tensor<512x256xf32>) -> tensor<1x256xf32>
  %16 = stablehlo.convert %d : (tensor<512x256xi8>) -> tensor<512x256xf32>
  %17 = stablehlo.dot_general %y, %16, contracting_dims = [1] x [0] : (tensor<2x512xf32>, tensor<512x256xf32>) -> tensor<2x256xf32>
  return %3, %9, %15, %17 : tensor<1x256xf32>, tensor<1x512xf32>, tensor<1x256xf32>, tensor<2x256xf32>
}

// CHECK: @0 stablehlo.dot_general: loop [256,512] {{.*}} v2:f32=convert v1; {{.*}} reduce last 1
// CHECK: @1 stablehlo.dot_general: loop [512,256] {{.*}} v2:f32=convert v1; {{.*}} reduce last 1
// CHECK: @2 stablehlo.dot_general: loop [256,8,64] {{.*}} v2:f32=convert v1; {{.*}} reduce last 2
// CHECK: @3 stablehlo.convert: loop
// CHECK: @4 stablehlo.dot_general: dot
