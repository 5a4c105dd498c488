// User priorities: p0 first, whatever the order of the text.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-user-priority-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {?}p1]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}p0]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {?}p1]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}p0]>}) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
// CHECK-NEXT:   return %0 : tensor<8x8xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// SHARD: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}]>}) {
// SHARD-NEXT:   %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"a", ?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   return %0 : tensor<8x8xf32>
// SHARD-NEXT: }
