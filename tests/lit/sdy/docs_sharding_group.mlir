// compiler_api, sharding group: a constant is sharded as the argument, though no data flows between.
// RUN: terrazzo opt %s --pass-pipeline='sdy-propagation-pipeline' | FileCheck %s

sdy.mesh @mesh_xy = <["x"=2, "y"=2]>

func.func @main(%arg0: tensor<8x2xi64> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}]>}) -> tensor<8x2xi64> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x2xi64>
  %0 = stablehlo.constant dense<0> : tensor<8x2xi64>
  sdy.sharding_group %0 group_id=0 : tensor<8x2xi64>
  return %0 : tensor<8x2xi64>
}

// CHECK: sdy.mesh @mesh_xy = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<8x2xi64> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}]>}) -> (tensor<8x2xi64> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}]>}) {
// CHECK-NEXT:   %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh_xy, [{"x"}, {"y"}]>]>} dense<0> : tensor<8x2xi64>
// CHECK-NEXT:   return %0 : tensor<8x2xi64>
// CHECK-NEXT: }
