// Gradients of parts of a batch: parts of their sums are carried, and summed up once, behind the loop.
// RUN: terrazzo partition %s --stats | FileCheck %s
// RUN: terrazzo partition %s | FileCheck --check-prefix=LOOP %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<10x64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%x = %arg0, %s = %arg1, %i = %c) : tensor<10x64x8xf32>, tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %1 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.compare LT, %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_slice %x, %i, %1, %1, sizes = [1, 64, 8] : (tensor<10x64x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x64x8xf32>) -> tensor<64x8xf32>
    %4 = stablehlo.tanh %3 : tensor<64x8xf32>
    %5 = stablehlo.dot_general %4, %3, contracting_dims = [0] x [0] : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.add %s, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
    %7 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.add %i, %7 : tensor<i32>
    stablehlo.return %x, %6, %8 : tensor<10x64x8xf32>, tensor<8x8xf32>, tensor<i32>
  }
  return %0#1 : tensor<8x8xf32>
}

// CHECK: all_reduce{{ +}}4  "x"{{ +}}384 B        1
// CHECK: 1 collectives, run 1 times

// LOOP: stablehlo.while
// LOOP: stablehlo.dot_general
// LOOP: stablehlo.all_reduce
// LOOP: stablehlo.add %arg1, 
// LOOP-NEXT: return
