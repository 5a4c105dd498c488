// The greatest of a sharded dimension are among the greatest of each shard.
// RUN: terrazzo opt %s -terrazzo-reduce-in-parts | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<2x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0:2 = "chlo.top_k"(%arg0) <{k = 3 : i64}> : (tensor<2x64xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<2x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
// CHECK-NEXT:   %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<2x64xf32>) -> tensor<2x4x16xf32>
// CHECK-NEXT:   %values, %indices = chlo.top_k(%0, k = 3) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>]>} : tensor<2x4x16xf32> -> (tensor<2x4x3xf32>, tensor<2x4x3xi32>)
// CHECK-NEXT:   %1 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : tensor<2x4x3xi32>
// CHECK-NEXT:   %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} dense<16> : tensor<2x4x3xi32>
// CHECK-NEXT:   %2 = stablehlo.multiply %1, %c {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : tensor<2x4x3xi32>
// CHECK-NEXT:   %3 = stablehlo.add %indices, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : tensor<2x4x3xi32>
// CHECK-NEXT:   %4 = stablehlo.reshape %values {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<2x4x3xf32>) -> tensor<2x12xf32>
// CHECK-NEXT:   %values_0, %indices_1 = chlo.top_k(%4, k = 3) : tensor<2x12xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
// CHECK-NEXT:   %5 = stablehlo.reshape %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<2x4x3xi32>) -> tensor<2x12xi32>
// CHECK-NEXT:   %6 = "stablehlo.gather"(%5, %indices_1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x12xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:   return %values_0, %6 : tensor<2x3xf32>, tensor<2x3xi32>
// CHECK-NEXT: }
