// An argmax and a running sum along a dimension that the axis does not divide: padded in their place,
// shards send pairs and totals.
// RUN: terrazzo partition %s --devices 4 --stats 2>&1 | FileCheck %s
// RUN: terrazzo opt %s -terrazzo-reduce-in-parts | FileCheck --check-prefix=PARTS %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<52x50xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<52xi32>, tensor<52x50xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<52x50xf32>) -> tensor<50x52xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<50x52xf32>
  %2 = stablehlo.iota dim = 0 : tensor<50x52xi32>
  %3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %4 = stablehlo.constant dense<0> : tensor<i32>
  %5:2 = stablehlo.reduce(%1 init: %3), (%2 init: %4) across dimensions = [0] : (tensor<50x52xf32>, tensor<50x52xi32>, tensor<f32>, tensor<i32>) -> (tensor<52xf32>, tensor<52xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %8 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %9 = stablehlo.select %8, %a, %b : tensor<i1>, tensor<f32>
    %10 = stablehlo.select %8, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
  }
  %6 = stablehlo.constant dense<0.0> : tensor<f32>
  %7 = "stablehlo.reduce_window"(%1, %6) <{padding = dense<[[49, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 50, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %8 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %8 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<50x52xf32>, tensor<f32>) -> tensor<50x52xf32>
  %11 = stablehlo.transpose %7, dims = [1, 0] : (tensor<50x52xf32>) -> tensor<52x50xf32>
  return %5#1, %11 : tensor<52xi32>, tensor<52x50xf32>
}

// CHECK: all_gather{{ +}}4  "x"{{ +}}1.8 KiB        1
// CHECK: 3 collectives, run 3 times

// PARTS: stablehlo.pad {{.*}} high = [2, 0]
// PARTS: stablehlo.reshape {{.*}} -> tensor<4x13x52xf32>
// PARTS: stablehlo.slice {{.*}} [0:50, 0:52]
