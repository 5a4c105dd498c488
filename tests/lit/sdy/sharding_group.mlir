// Members of a group are sharded alike, whether or not data flows between them.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-sharding-group-import -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
  sdy.sharding_group %arg0 group_id=3 : tensor<8x8xf32>
  sdy.sharding_group %arg1 group_id=3 : tensor<8x8xf32>
  %0 = stablehlo.negate %arg1 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT:   sdy.sharding_group %arg0 group_id=3 : tensor<8x8xf32>
// CHECK-NEXT:   sdy.sharding_group %arg1 group_id=3 : tensor<8x8xf32>
// CHECK-NEXT:   %0 = stablehlo.negate %arg1 : tensor<8x8xf32>
// CHECK-NEXT:   return %0 : tensor<8x8xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// SHARD: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}) {
// SHARD-NEXT:   sdy.sharding_group %arg0 group_id=0 : tensor<8x8xf32>
// SHARD-NEXT:   sdy.sharding_group %arg1 group_id=0 : tensor<8x8xf32>
// SHARD-NEXT:   %0 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   return %0 : tensor<8x8xf32>
// SHARD-NEXT: }
