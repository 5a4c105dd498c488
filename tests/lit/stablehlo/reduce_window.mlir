// stablehlo.reduce_window
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> tensor<8x2xf32> {
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> tensor<8x2xf32> {
// CHECK-NEXT:   %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT:     %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %1 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x2xf32>
// CHECK-NEXT:   return %0 : tensor<8x2xf32>
// CHECK-NEXT: }

// SHARD: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}) {
// SHARD-NEXT:   %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
// SHARD-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// SHARD-NEXT:     %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
// SHARD-NEXT:     stablehlo.return %1 : tensor<f32>
// SHARD-NEXT:   }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x2xf32>
// SHARD-NEXT:   return %0 : tensor<8x2xf32>
// SHARD-NEXT: }
