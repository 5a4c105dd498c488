// Parts of a concatenation that are elsewhere are moved; nothing else is.
// RUN: terrazzo opt %s --pass-pipeline='sdy-propagation-pipeline' | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %1 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  return %0, %1 : tensor<16x8xf32>, tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
// CHECK-NEXT:   %0 = sdy.reshard %arg0 <@mesh, [{}, {"b"}]> : tensor<8x8xf32>
// CHECK-NEXT:   %1 = stablehlo.concatenate %0, %arg1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
// CHECK-NEXT:   %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<16x8xf32>
// CHECK-NEXT:   %3 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
// CHECK-NEXT:   return %2, %3 : tensor<16x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
