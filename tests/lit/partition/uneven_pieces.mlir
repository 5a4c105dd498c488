// What is concatenated may be uneven: a row in front of all but the last, as in an associative scan.
// Each shard needs one row of its neighbour's.
// RUN: terrazzo partition %s --stats | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK: collective_permute         2  "x"                     32 B
// CHECK-NEXT: 1 collectives
func.func @main(%u: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x8xf32> {
  %0 = stablehlo.slice %u [0:63, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
  %1 = stablehlo.negate %0 : tensor<63x8xf32>
  %2 = stablehlo.slice %u [0:1, 0:8] : (tensor<64x8xf32>) -> tensor<1x8xf32>
  %3 = stablehlo.concatenate %2, %1, dim = 0 : (tensor<1x8xf32>, tensor<63x8xf32>) -> tensor<64x8xf32>
  return %3 : tensor<64x8xf32>
}
