// What all who use it take apart along its last, short dim is computed an element of that each, in
// one loop: by rows, or where these are short in all.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

func.func @main(%a: tensor<16x4xf32>, %b: tensor<40x4xf32>, %c: tensor<8x3xf32>)
    -> (tensor<16x40xf32>, tensor<8x1xf32>, tensor<8x2xf32>) {
  %0 = stablehlo.slice %a [0:16, 2:4] : (tensor<16x4xf32>) -> tensor<16x2xf32>
  %1 = stablehlo.slice %b [0:40, 0:2] : (tensor<40x4xf32>) -> tensor<40x2xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<16x2xf32>) -> tensor<16x40x2xf32>
  %3 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<40x2xf32>) -> tensor<16x40x2xf32>
  %4 = stablehlo.subtract %2, %3 : tensor<16x40x2xf32>
  %5 = stablehlo.slice %4 [0:16, 0:40, 0:1] : (tensor<16x40x2xf32>) -> tensor<16x40x1xf32>
  %6 = stablehlo.slice %4 [0:16, 0:40, 1:2] : (tensor<16x40x2xf32>) -> tensor<16x40x1xf32>
  %7 = stablehlo.reshape %5 : (tensor<16x40x1xf32>) -> tensor<16x40xf32>
  %8 = stablehlo.reshape %6 : (tensor<16x40x1xf32>) -> tensor<16x40xf32>
  %9 = stablehlo.multiply %7, %8 : tensor<16x40xf32>
  %10 = stablehlo.iota dim = 1 : tensor<8x3xf32>
  %11 = stablehlo.add %c, %10 : tensor<8x3xf32>
  %12 = stablehlo.slice %11 [0:8, 1:2] : (tensor<8x3xf32>) -> tensor<8x1xf32>
  %13 = stablehlo.slice %11 [0:8, 2:3] : (tensor<8x3xf32>) -> tensor<8x1xf32>
  %14 = stablehlo.multiply %12, %13 : tensor<8x1xf32>
  // Not where somebody takes more than one.
  %15 = stablehlo.multiply %c, %c : tensor<8x3xf32>
  %16 = stablehlo.slice %15 [0:8, 1:3] : (tensor<8x3xf32>) -> tensor<8x2xf32>
  return %9, %14, %16 : tensor<16x40xf32>, tensor<8x1xf32>, tensor<8x2xf32>
}

// CHECK: loop [8,1] in %2[3,1] %2+1[3,1] %2+2[3,1] out %[[Q:[0-9]+]][1,8] %[[Q]]+8[1,8] %[[Q]]+16[1,8]
// CHECK: stablehlo.multiply: loop [8,3] in %2[3,1] out %{{[0-9]+}}[3,1]
// CHECK: loop [16,40,1] in %0+2[4,0,1] %1[0,4,1] %0+3[4,0,1] %1+1[0,4,1] out %[[P:[0-9]+]][80,1,40] %[[P]]+40[80,1,40]
// CHECK: loop [16,40] in %[[P]][80,1] %[[P]]+40[80,1] out
// CHECK: loop [8,1] in %[[Q]]+8[1,8] %[[Q]]+16[1,8] out
