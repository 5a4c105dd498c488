// A parameter with zeros around it is kept for the convolutions that read it so, but not for what
// goes element by element.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: copy [2,8,8,16] %0[1024,128,16,1] -> %[[P:[0-9]+]]+
// CHECK: convolution: dot {{.*}} %[[P]][1600,160,16,0,160,16,1] %1[
// CHECK-NOT: copy [2,8,8,16]
// CHECK: convolution: dot {{.*}} %[[P]][1600,160,16,0,160,16,1] %2[
// CHECK: multiply: loop {{.*}} %0[
func.func @main(%x: tensor<2x8x8x16xf32>, %k: tensor<3x3x16x16xf32>, %l: tensor<3x3x16x16xf32>) -> (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) {
  %c = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x8x8x16xf32>
  %d = stablehlo.convolution(%x, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x8x8x16xf32>
  %p = stablehlo.multiply %d, %x : tensor<2x8x8x16xf32>
  return %c, %p : tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>
}
