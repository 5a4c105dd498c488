// Bytes that a mean and a deviation of each channel make numbers of: the loop goes through them as
// the result has them, however large that is, as it reads no more than they are.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: workspace 0
// CHECK: stablehlo.divide: loop [3,580,580] in %0[1,1740,3] %1[1,0,0] %2[1,0,0] out %3[336400,580,1]
// CHECK-NOT: @
func.func @main(%x: tensor<580x580x3xui8>, %mean: tensor<3xf32>, %deviation: tensor<3xf32>) -> tensor<3x580x580xf32> {
  %0 = stablehlo.convert %x : (tensor<580x580x3xui8>) -> tensor<580x580x3xf32>
  %1 = stablehlo.broadcast_in_dim %mean, dims = [2] : (tensor<3xf32>) -> tensor<580x580x3xf32>
  %2 = stablehlo.broadcast_in_dim %deviation, dims = [2] : (tensor<3xf32>) -> tensor<580x580x3xf32>
  %3 = stablehlo.subtract %0, %1 : tensor<580x580x3xf32>
  %4 = stablehlo.divide %3, %2 : tensor<580x580x3xf32>
  %5 = stablehlo.transpose %4, dims = [2, 0, 1] : (tensor<580x580x3xf32>) -> tensor<3x580x580xf32>
  return %5 : tensor<3x580x580xf32>
}
