// Of a sort only what is looked at is kept, and positions need no tensor.
// RUN: not terrazzo run %s --dump program 2>&1 | FileCheck %s
func.func @main(%arg0: tensor<8x40xf32>) -> (tensor<8x3xf32>, tensor<8x2xi32>) {
  %0 = stablehlo.iota dim = 1 : tensor<8x40xi32>
  %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %2 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<8x40xf32>, tensor<8x40xi32>) -> (tensor<8x40xf32>, tensor<8x40xi32>)
  %3 = stablehlo.slice %1#0 [0:8, 0:3] : (tensor<8x40xf32>) -> tensor<8x3xf32>
  %4 = stablehlo.slice %1#1 [0:8, 0:2] : (tensor<8x40xi32>) -> tensor<8x2xi32>
  return %3, %4 : tensor<8x3xf32>, tensor<8x2xi32>
}

// CHECK: stablehlo.sort: sort [8,40,1] keep 3 %0 -> %{{[0-9]+}} place -> %
