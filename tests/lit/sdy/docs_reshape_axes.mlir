// propagation, compound factors: the axes of a merged dimension are those of its factors, major first.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-aggressive-propagate' | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]>
func.func @main(%arg0: tensor<2x4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<2x4x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=4, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 4 : i64}, {name = "c", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<2x4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}]>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {"c", ?}]>}) {
// CHECK-NEXT:   %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b", ?}, {"c", ?}]>]>} : (tensor<2x4x32xf32>) -> tensor<8x32xf32>
// CHECK-NEXT:   return %0 : tensor<8x32xf32>
// CHECK-NEXT: }
