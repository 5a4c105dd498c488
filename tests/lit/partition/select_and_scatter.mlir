// The gradient of a pool: a shard gets what windows that have elements of it select from.
// RUN: terrazzo opt %s -terrazzo-join-slices | FileCheck %s --check-prefix=JOIN
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @m = <["x"=4]>
#rows = #sdy.sharding<@m, [{"x"}]>

// JOIN: "stablehlo.select_and_scatter"(%arg0, %arg1
// JOIN-SAME: padding = dense<{{\[\[}}0, 1]]>
// JOIN: terrazzo.fill = dense<0xFF800000>
// JOIN-NEXT: return
// CHECK: collective_permute
// CHECK: collective_permute
// CHECK-NOT: collective_permute
// CHECK-NOT: all_gather
// CHECK: "stablehlo.select_and_scatter"
// CHECK: (tensor<7xf32>, tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
// CHECK-NEXT: stablehlo.slice %{{.*}} [2:6]
func.func @gradient(%a: tensor<16xf32> {sdy.sharding = #rows}, %g: tensor<8xf32> {sdy.sharding = #rows}) -> (tensor<16xf32> {sdy.sharding = #rows}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %low, low = [0], high = [1], interior = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<17xf32>
  %1 = "stablehlo.select_and_scatter"(%0, %g, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<17xf32>, tensor<8xf32>, tensor<f32>) -> tensor<17xf32>
  %2 = stablehlo.slice %1 [0:16] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<17xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// The last shard of 14 has two elements only: no window selects what is behind them, nor begins
// there.
// CHECK-LABEL: @uneven
// CHECK-NOT: all_gather
// CHECK: "stablehlo.case"
// CHECK: padding = dense<{{\[\[}}2, 0]]>
// CHECK: padding = dense<{{\[\[}}0, 1]]>
// CHECK: (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
func.func @uneven(%a: tensor<14xf32>, %g: tensor<7xf32>) -> tensor<14xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.reshard %a <@m, [{"x"}]> : tensor<14xf32>
  %1 = sdy.reshard %g <@m, [{"x"}]> : tensor<7xf32>
  %2 = "stablehlo.select_and_scatter"(%0, %1, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<14xf32>, tensor<7xf32>, tensor<f32>) -> tensor<14xf32>
  return %2 : tensor<14xf32>
}
