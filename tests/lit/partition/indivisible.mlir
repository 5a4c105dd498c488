// Axes that do not divide a dimension are dropped, major ones kept.
// RUN: terrazzo opt %s -terrazzo-drop-indivisible-axes | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<6x8xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{"x", "y"}, {}]> : tensor<6x8xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<6x8xf32> {
// CHECK-NEXT:   %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<6x8xf32>
// CHECK-NEXT:   %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<6x8xf32>
// CHECK-NEXT:   return %1 : tensor<6x8xf32>
// CHECK-NEXT: }
