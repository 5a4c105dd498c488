// A constraint says how its uses are sharded, and its operand follows.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-apply-sharding-constraints -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {"b", ?}]> : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
// CHECK-NEXT:   %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {"b", ?}]> : tensor<8x8xf32>
// CHECK-NEXT:   %2 = stablehlo.negate %1 : tensor<8x8xf32>
// CHECK-NEXT:   return %2 : tensor<8x8xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// SHARD: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}) {
// SHARD-NEXT:   %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {"b", ?}]> : tensor<8x8xf32>
// SHARD-NEXT:   %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   return %2 : tensor<8x8xf32>
// SHARD-NEXT: }
