// Bytes are multiplied in fours that lie together: where features do not, the copy with zeros
// around it has them so, and what needs no zeros is copied as well.
// RUN: terrazzo run %s --random-input --dump program 2>&1 | FileCheck %s

// CHECK: copy [1,8,6,6] %0[288,36,6,1] -> %[[PADDED:[0-9]+]]+72[512,1,64,8]
// CHECK-NEXT: dot b0 m3 n1 k3 [1,6,6,4,3,3,8] %[[PADDED]][512,64,8,0,64,8,1]
// CHECK: copy [1,8,6,6] %0[288,36,6,1] -> %[[COPY:[0-9]+]][288,1,48,8]
// CHECK-NEXT: dot b0 m3 n1 k3 [1,4,4,4,3,3,8] %[[COPY]][288,48,8,0,48,8,1]
func.func @main(%x: tensor<1x8x6x6xi8>, %w: tensor<4x8x3x3xi8>) -> (tensor<1x4x6x6xi32>, tensor<1x4x4x4xi32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x6x6xi8>, tensor<4x8x3x3xi8>) -> tensor<1x4x6x6xi32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x6x6xi8>, tensor<4x8x3x3xi8>) -> tensor<1x4x4x4xi32>
  return %0, %1 : tensor<1x4x6x6xi32>, tensor<1x4x4x4xi32>
}
