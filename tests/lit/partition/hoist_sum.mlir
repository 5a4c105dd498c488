// A sum that each round of a loop makes anew of the same operands is made once, with the product
// behind which it stands; a slice of it takes the sum along. What changes it must stay.
// RUN: terrazzo partition %s --stats | FileCheck %s
// RUN: terrazzo partition %s | FileCheck --check-prefix=LOOP %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg2: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%x = %arg0, %w = %arg1, %s = %arg2, %i = %c) : tensor<8x64xf32>, tensor<64x8xf32>, tensor<8x8xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, []>]>}
  cond {
    %1 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.compare LT, %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.tanh %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
    %3 = stablehlo.multiply %s, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
    %4 = stablehlo.constant dense<1> : tensor<i32>
    %5 = stablehlo.add %i, %4 : tensor<i32>
    stablehlo.return %x, %w, %3, %5 : tensor<8x64xf32>, tensor<64x8xf32>, tensor<8x8xf32>, tensor<i32>
  }
  return %0#2 : tensor<8x8xf32>
}

// CHECK: all_reduce{{ +}}4  "x"{{ +}}384 B        1
// CHECK: 1 collectives, run 1 times

// LOOP: stablehlo.dot_general
// LOOP: stablehlo.all_reduce
// LOOP: stablehlo.while
// LOOP-NOT: stablehlo.dot_general
