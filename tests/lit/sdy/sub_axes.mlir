// A dimension that takes part of an axis leaves the rest to the next.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=8]>
func.func @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<16xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=8]>
// CHECK: func.func @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<4x4xf32> {
// CHECK-NEXT:   %0 = stablehlo.reshape %arg0 : (tensor<16xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:   return %0 : tensor<4x4xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=8]>
// SHARD: func.func @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)4, ?}, {"a":(4)2, ?}]>}) {
// SHARD-NEXT:   %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a":(1)4, ?}, {"a":(4)2, ?}]>]>} : (tensor<16xf32>) -> tensor<4x4xf32>
// SHARD-NEXT:   return %0 : tensor<4x4xf32>
// SHARD-NEXT: }
