// stablehlo.dot: products of matrices and vectors, sharded along every dimension.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD
// RUN: terrazzo opt %s -sdy-propagation-pipeline -terrazzo-partition | FileCheck %s --check-prefix=LOCAL
// RUN: terrazzo ops stablehlo.dot | FileCheck %s --check-prefix=OPS

// CHECK: %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
// CHECK: %1 = stablehlo.dot %0, %arg2 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
// SHARD: stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"c", ?}]>]>}
// SHARD: stablehlo.dot %0, %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>}
// LOCAL: stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
// LOCAL: "stablehlo.all_reduce"
// LOCAL: stablehlo.dot {{.*}} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4xf32>
// LOCAL: "stablehlo.all_reduce"
// OPS: stablehlo.dot form yes - yes rule split yes
sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"c"}]>}, %arg2: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.dot %0, %arg2 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
