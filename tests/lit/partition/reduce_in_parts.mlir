// What all-reduce cannot combine, along a sharded dimension: an argmax sends pairs, a running sum the
// totals of its shards, and a largest beside a smallest are two all-reduces.
// RUN: terrazzo opt %s -terrazzo-reduce-in-parts | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @argmax(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<64x8xi32>
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3:2 = stablehlo.reduce(%arg0 init: %1), (%0 init: %2) across dimensions = [0] : (tensor<64x8xf32>, tensor<64x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %4 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.select %4, %a, %b : tensor<i1>, tensor<f32>
    %6 = stablehlo.select %4, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
  }
  return %3#1 : tensor<8xi32>
}
func.func @running(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%arg0, %0) <{padding = dense<[[0, 63], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 64, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<64x8xf32>, tensor<f32>) -> tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}
func.func @ends(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1:2 = stablehlo.reduce(%arg0 init: %0), (%arg0 init: %0) across dimensions = [0] : (tensor<64x8xf32>, tensor<64x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<f32>, %j: tensor<f32>) {
    %2 = stablehlo.maximum %a, %b : tensor<f32>
    %3 = stablehlo.minimum %i, %j : tensor<f32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<f32>
  }
  return %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @argmax(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xi32> {
// CHECK-NEXT:   %0 = stablehlo.iota dim = 0 : tensor<64x8xi32>
// CHECK-NEXT:   %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT:   %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:   %1 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<64x8xf32>) -> tensor<4x16x8xf32>
// CHECK-NEXT:   %2 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<64x8xi32>) -> tensor<4x16x8xi32>
// CHECK-NEXT:   %3:2 = stablehlo.reduce(%1 init: %cst), (%2 init: %c) across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<4x16x8xf32>, tensor<4x16x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
// CHECK-NEXT:    reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
// CHECK-NEXT:     %5 = stablehlo.compare GE, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:     %6 = stablehlo.select %5, %arg1, %arg3 : tensor<i1>, tensor<f32>
// CHECK-NEXT:     %7 = stablehlo.select %5, %arg2, %arg4 : tensor<i1>, tensor<i32>
// CHECK-NEXT:     stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %4:2 = stablehlo.reduce(%3#0 init: %cst), (%3#1 init: %c) across dimensions = [0] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
// CHECK-NEXT:    reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
// CHECK-NEXT:     %5 = stablehlo.compare GE, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:     %6 = stablehlo.select %5, %arg1, %arg3 : tensor<i1>, tensor<f32>
// CHECK-NEXT:     %7 = stablehlo.select %5, %arg2, %arg4 : tensor<i1>, tensor<i32>
// CHECK-NEXT:     stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
// CHECK-NEXT:   }
// CHECK-NEXT:   return %4#1 : tensor<8xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @running(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
// CHECK-NEXT:   %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<64x8xf32>) -> tensor<4x16x8xf32>
// CHECK-NEXT:   %1 = "stablehlo.reduce_window"(%0, %cst) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<{{\[\[}}0, 0], [0, 15], [0, 0{{\]\]}}> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 16, 1>, window_strides = array<i64: 1, 1, 1>}> ({
// CHECK-NEXT:   ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT:     %8 = stablehlo.add %arg1, %arg2 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %8 : tensor<f32>
// CHECK-NEXT:   }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<4x16x8xf32>, tensor<f32>) -> tensor<4x16x8xf32>
// CHECK-NEXT:   %2 = stablehlo.slice %1 [0:4, 0:1, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<4x16x8xf32>) -> tensor<4x1x8xf32>
// CHECK-NEXT:   %3 = sdy.reshard %2 <@mesh, [{}, {}, {}]> : tensor<4x1x8xf32>
// CHECK-NEXT:   %4 = "stablehlo.reduce_window"(%3, %cst) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<{{\[\[}}-1, 4], [0, 0], [0, 0{{\]\]}}> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 4, 1, 1>, window_strides = array<i64: 1, 1, 1>}> ({
// CHECK-NEXT:   ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT:     %8 = stablehlo.add %arg1, %arg2 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %8 : tensor<f32>
// CHECK-NEXT:   }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<4x1x8xf32>, tensor<f32>) -> tensor<4x1x8xf32>
// CHECK-NEXT:   %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<4x1x8xf32>) -> tensor<4x16x8xf32>
// CHECK-NEXT:   %6 = stablehlo.add %1, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<4x16x8xf32>
// CHECK-NEXT:   %7 = stablehlo.reshape %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x16x8xf32>) -> tensor<64x8xf32>
// CHECK-NEXT:   return %7 : tensor<64x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @ends(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT:   %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:   %1 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.minimum across dimensions = [0] : (tensor<64x8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:   return %0, %1 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
