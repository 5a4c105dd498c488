// What is computed of one array and then transposed is computed in the order of the result, if all
// who want it go through it.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: workspace 0
// CHECK: stablehlo.divide: loop [5,3,7] in %0[21,1,3] out %2[21,7,1]
// CHECK: stablehlo.add: loop [7,5] in %1[1,7] out %3[5,1]
// CHECK-NOT: @
func.func @main(%x: tensor<5x7x3xui8>, %y: tensor<5x7xf32>) -> (tensor<5x3x7xf32>, tensor<7x5xf32>) {
  %c = stablehlo.constant dense<2.550000e+02> : tensor<5x7x3xf32>
  %0 = stablehlo.convert %x : (tensor<5x7x3xui8>) -> tensor<5x7x3xf32>
  %1 = stablehlo.divide %0, %c : tensor<5x7x3xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<5x7x3xf32>) -> tensor<5x3x7xf32>
  %one = stablehlo.constant dense<1.0> : tensor<7x5xf32>
  %3 = stablehlo.multiply %y, %y : tensor<5x7xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<5x7xf32>) -> tensor<7x5xf32>
  %5 = stablehlo.add %4, %one : tensor<7x5xf32>
  return %2, %5 : tensor<5x3x7xf32>, tensor<7x5xf32>
}
