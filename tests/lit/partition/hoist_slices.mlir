// A loop that slices all of a cut array, block by block, gathers it in front: the sum that brings a
// block sends twice as much. Two blocks of four are no more than half.
// RUN: terrazzo partition %s --stats | FileCheck %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%k: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %l: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %q: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%a = %k, %i = %zero, %s = %q) : tensor<8x4xf32>, tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<8> : tensor<i32>
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %v = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
    %t = stablehlo.multiply %s, %v : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %a, %j, %t : tensor<8x4xf32>, tensor<i32>, tensor<4xf32>
  }
  %1:3 = stablehlo.while(%a = %l, %i = %zero, %s = %q) : tensor<8x4xf32>, tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %v = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
    %t = stablehlo.multiply %s, %v : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %a, %j, %t : tensor<8x4xf32>, tensor<i32>, tensor<4xf32>
  }
  return %0#2, %1#2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK: all_gather{{ +}}4  "x"{{ +}}96 B{{ +}}1 {{.*}}:16:12
// CHECK: all_reduce{{ +}}4  "x"{{ +}}24 B{{ +}}4 {{.*}}:28:12
// CHECK: 2 collectives

// SAME: the sharded program computes what the whole one does
