// Slices whose results shards do not divide: u[2:] - u[:-2] of 16 rows in 4 shards. The row of each
// device grows by what it needs of its neighbour, and the difference by shards has padding at the
// end that nobody reads.
// RUN: terrazzo partition %s --stats | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK: collective_permute         2  "x"                     64 B
// CHECK-NEXT: all_reduce                 4  "x"
// CHECK-NEXT: 2 collectives
func.func @main(%u: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.slice %u [2:16, 0:8] : (tensor<16x8xf32>) -> tensor<14x8xf32>
  %1 = stablehlo.slice %u [0:14, 0:8] : (tensor<16x8xf32>) -> tensor<14x8xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<14x8xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<14x8xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<14x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}
