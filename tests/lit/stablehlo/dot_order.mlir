// A product is written in the order in which it is used: after all transposes that follow one
// another, and with dims of its rows or columns in another order where neighbours else lay afar.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

func.func @main(%q: tensor<2x8x3x4xf32>, %k: tensor<2x16x4xf32>, %x: tensor<8x6xf32>, %y: tensor<8x5xf32>,
                %s: tensor<6x5xf32>, %a: tensor<8x3x4xf32>)
    -> (tensor<2x3x8x16xf32>, tensor<6x5xf32>, tensor<5x6xf32>, tensor<3x8x5xf32>) {
  // Scores of queries in groups, keys first: [b, k, q, g] is used as [b, g, q, k].
  %0 = stablehlo.dot_general %k, %q, batching_dims = [0] x [0], contracting_dims = [2] x [3] : (tensor<2x16x4xf32>, tensor<2x8x3x4xf32>) -> tensor<2x16x8x3xf32>
  %1 = stablehlo.transpose %0, dims = [0, 3, 2, 1] : (tensor<2x16x8x3xf32>) -> tensor<2x3x8x16xf32>
  %2 = stablehlo.exponential %1 : tensor<2x3x8x16xf32>
  // A gradient that is transposed back.
  %3 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x5xf32>) -> tensor<6x5xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<5x6xf32>) -> tensor<6x5xf32>
  %6 = stablehlo.add %s, %5 : tensor<6x5xf32>
  // One that is used both ways: as it is transposed first.
  %7 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<8x6xf32>, tensor<8x5xf32>) -> tensor<6x5xf32>
  %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<5x6xf32>) -> tensor<6x5xf32>
  %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %11 = stablehlo.multiply %8, %10 : tensor<5x6xf32>
  // Rows whose order leaves neighbours where they are keep theirs, and the operand its one stride.
  %12 = stablehlo.slice %y [0:4, 0:5] : (tensor<8x5xf32>) -> tensor<4x5xf32>
  %13 = stablehlo.dot_general %a, %12, contracting_dims = [2] x [0] : (tensor<8x3x4xf32>, tensor<4x5xf32>) -> tensor<8x3x5xf32>
  %14 = stablehlo.transpose %13, dims = [1, 0, 2] : (tensor<8x3x5xf32>) -> tensor<3x8x5xf32>
  %15 = stablehlo.exponential %14 : tensor<3x8x5xf32>
  return %2, %6, %11, %15 : tensor<2x3x8x16xf32>, tensor<6x5xf32>, tensor<5x6xf32>, tensor<3x8x5xf32>
}

// CHECK: dot b1 m1 n2 k1 [2,16,8,3,4] {{.*}} -> %{{[0-9]+}}[384,1,16,128,0]
// CHECK: dot b0 m1 n1 k1 [6,5,8] {{.*}} -> %{{[0-9]+}}[5,1,0]
// CHECK: dot b0 m1 n1 k1 [6,5,8] {{.*}} -> %{{[0-9]+}}[1,6,0]
// CHECK: dot b0 m2 n1 k1 [8,3,5,4] {{.*}} -> %{{[0-9]+}}[15,5,1,0]
