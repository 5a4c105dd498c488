// Shardy sums up what a sharded reduction leaves, unless a sharding says otherwise. A warning says
// so where the op does not add; terrazzo-partition takes the maximum.
// RUN: terrazzo opt %s -sdy-insert-explicit-reshards=enable-full-version=true 2>&1 | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @maximum(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @told(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: warning: 'stablehlo.reduce' op is reduced across devices by a sum, but combines its parts by max
// CHECK-NOT: warning:
// CHECK-LABEL: func.func @maximum
// CHECK: sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{"y"}]>
// CHECK-LABEL: func.func @told
// CHECK: %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@mesh, [{}], unreduced=max{"x"}>
// CHECK: %2 = sdy.all_reduce max {"x"} %1 out_sharding=<@mesh, [{}]>
