// What constants choose takes the place of the choice, and the result is simplified.
// RUN: terrazzo opt %s -stablehlo-target-independent-optimization | FileCheck %s

// CHECK-LABEL: func @main
// CHECK-NEXT: return %arg0, %arg1
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %yes = stablehlo.constant dense<true> : tensor<4xi1>
  %0 = stablehlo.select %no, %y, %zero : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  %2 = stablehlo.select %yes, %y, %zero : tensor<4xi1>, tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @both
// CHECK: stablehlo.select
func.func @both(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %some = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %0 = stablehlo.select %some, %x, %y : tensor<2xi1>, tensor<2xf32>
  return %0 : tensor<2xf32>
}
