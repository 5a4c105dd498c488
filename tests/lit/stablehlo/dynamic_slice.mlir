// stablehlo.dynamic_slice
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s | terrazzo opt - | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<i32>) -> tensor<8x2xf32> {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [8, 2] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
func.func @scalar(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.dynamic_slice %arg0, sizes = [] : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<i32>) -> tensor<8x2xf32> {
// CHECK-NEXT:   %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [8, 2] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
// CHECK-NEXT:   return %0 : tensor<8x2xf32>
// CHECK-NEXT: }
// CHECK: stablehlo.dynamic_slice %arg0, , sizes = [] : (tensor<f32>) -> tensor<f32>

// SHARD: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<i32>) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}) {
// SHARD-NEXT:   %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [8, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
// SHARD-NEXT:   return %0 : tensor<8x2xf32>
// SHARD-NEXT: }
