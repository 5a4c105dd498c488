// Rules for ops that Shardy has none for, on demand; without, it stops at them.
// RUN: terrazzo opt %s -sdy-propagation-pipeline=extra-rules=true | FileCheck %s
// RUN: terrazzo opt %s -sdy-propagation-pipeline | FileCheck %s --check-prefix=OFF

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xi32>, tensor<2x8x16xf32>) {
  %0 = chlo.erf %arg0 : tensor<8x16xf32> -> tensor<8x16xf32>
  %values, %indices = chlo.top_k(%0, k = 4) : tensor<8x16xf32> -> (tensor<8x4xf32>, tensor<8x4xi32>)
  %1 = stablehlo.broadcast %0, sizes = [2] : (tensor<8x16xf32>) -> tensor<2x8x16xf32>
  return %values, %indices, %1 : tensor<8x4xf32>, tensor<8x4xi32>, tensor<2x8x16xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<f32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<2x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}, {"b"}]>}) {
// CHECK-NEXT:   %0 = chlo.erf %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT:   %values, %indices = chlo.top_k(%0, k = 4) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>, <@mesh, [{"a"}, {}]>]>} : tensor<8x16xf32> -> (tensor<8x4xf32>, tensor<8x4xi32>)
// CHECK-NEXT:   %1 = stablehlo.broadcast %0, sizes = [2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {"b"}]>]>} : (tensor<8x16xf32>) -> tensor<2x8x16xf32>
// CHECK-NEXT:   return %values, %indices, %1 : tensor<8x4xf32>, tensor<8x4xi32>, tensor<2x8x16xf32>
// CHECK-NEXT: }

// OFF: chlo.erf %arg0 : tensor<8x16xf32>
