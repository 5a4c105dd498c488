// compiler_api, sharding constraint: dimension 0 on "x", dimension 1 open to more.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-aggressive-propagate' | FileCheck %s

sdy.mesh @mesh_xy = <["x"=2, "y"=2]>

func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{?}, {"y", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh_xy, [{"x"}, {?}]> : tensor<8x8xf32>
  %2 = stablehlo.add %1, %arg1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh_xy = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x", ?}, {"y", ?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x", ?}, {"y", ?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x", ?}, {"y", ?}]>}) {
// CHECK-NEXT:   %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_xy, [{"x", ?}, {"y", ?}]>]>} : tensor<8x8xf32>
// CHECK-NEXT:   %1 = sdy.sharding_constraint %0 <@mesh_xy, [{"x"}, {"y", ?}]> : tensor<8x8xf32>
// CHECK-NEXT:   %2 = stablehlo.add %1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_xy, [{"x", ?}, {"y", ?}]>]>} : tensor<8x8xf32>
// CHECK-NEXT:   return %2 : tensor<8x8xf32>
// CHECK-NEXT: }
