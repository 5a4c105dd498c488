// stablehlo.pad
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> tensor<8x10xf32> {
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [0, -1], interior = [0, 2] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> tensor<8x10xf32> {
// CHECK-NEXT:   %0 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [0, -1], interior = [0, 2] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x10xf32>
// CHECK-NEXT:   return %0 : tensor<8x10xf32>
// CHECK-NEXT: }

// SHARD: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> (tensor<8x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}) {
// SHARD-NEXT:   %0 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [0, -1], interior = [0, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x10xf32>
// SHARD-NEXT:   return %0 : tensor<8x10xf32>
// SHARD-NEXT: }
