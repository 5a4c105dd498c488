// Sums over the same dimensions that read the same memory are one loop of several results; one that
// needs another's result stays behind it. Where there are many values and few results, parts are
// summed up first.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: reduce: loop [4,2048] in %[[X:[0-9]+]][1,4] out %[[A:[0-9]+]][1,0] %[[B:[0-9]+]][1,0] { v0:f32=load 0; out0=v0; v2:f32=mul v0 v0; out1=v2; } reduce last 1 init %[[INIT:[0-9]+]] %[[INIT]] sum
// CHECK-NEXT: reduce: loop [4,2048] in %[[X]][1,4] %[[A]][1,0] out
// CHECK-NEXT: reduce: loop [4,2048] in %[[X]][1,4] out {{.*}} max
// CHECK: reduce: loop [10,4,1000,10] in %{{[0-9]+}}[40000,1,40,4] out %[[P:[0-9]+]][4,1,0,0] {{.*}} reduce last 2
// CHECK-NEXT: reduce: loop [4,10] in %[[P]][1,4] out %{{[0-9]+}}[1,0] {{.*}} reduce last 1
func.func @main(%x: tensor<2048x4xf32>, %y: tensor<10000x10x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2048x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xf32>) -> tensor<2048x4xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2048x4xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2048x4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<2048x4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.multiply %x, %x : tensor<2048x4xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2048x4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<10000x10x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %3, %4, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
