// What is concatenated may be uneven: a row in front of all but the last, as in an associative scan,
// or at both ends, as in a difference. Each shard needs one row of its neighbour's; a single row is
// had by all.
// RUN: terrazzo partition %s --stats | FileCheck %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=4]>

// CHECK: all_to_all                 4  "x"                     24 B {{.*}}:17:8
// CHECK-NEXT: all_gather                 4  "x"                     24 B {{.*}}:17:8
// CHECK-NEXT: collective_permute         2  "x"                     32 B {{.*}}:20:8
// CHECK-NEXT: collective_permute         2  "x"                     64 B {{.*}}:23:8
// CHECK-NEXT: 4 collectives
func.func @main(%u: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.slice %u [0:63, 0:8] : (tensor<64x8xf32>) -> tensor<63x8xf32>
  %1 = stablehlo.negate %0 : tensor<63x8xf32>
  %2 = stablehlo.slice %u [0:1, 0:8] : (tensor<64x8xf32>) -> tensor<1x8xf32>
  %first = stablehlo.cosine %2 : tensor<1x8xf32>
  %3 = stablehlo.concatenate %2, %1, dim = 0 : (tensor<1x8xf32>, tensor<63x8xf32>) -> tensor<64x8xf32>
  %4 = stablehlo.slice %u [1:63, 0:8] : (tensor<64x8xf32>) -> tensor<62x8xf32>
  %5 = stablehlo.cosine %4 : tensor<62x8xf32>
  %6 = stablehlo.cosine %2 : tensor<1x8xf32>
  %7 = stablehlo.concatenate %6, %5, %first, dim = 0 : (tensor<1x8xf32>, tensor<62x8xf32>, tensor<1x8xf32>) -> tensor<64x8xf32>
  return %3, %7 : tensor<64x8xf32>, tensor<64x8xf32>
}

// SAME: the sharded program computes what the whole one does
