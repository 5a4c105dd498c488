// A barrier that lets shardings through: BACKWARD.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8x8xf32>
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) {
// CHECK-NEXT:   %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
// CHECK-NEXT:   %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8x8xf32>
// CHECK-NEXT:   %2 = stablehlo.negate %1 : tensor<8x8xf32>
// CHECK-NEXT:   return %2 : tensor<8x8xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// SHARD: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b", ?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) {
// SHARD-NEXT:   %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"b", ?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"b", ?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   return %2 : tensor<8x8xf32>
// SHARD-NEXT: }
