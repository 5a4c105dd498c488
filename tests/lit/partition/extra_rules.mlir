// What propagation did by rules that Shardy lacks is sound: ops that cannot run on shards are whole.
// RUN: terrazzo opt %s -sdy-propagation-pipeline=extra-rules=true -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<4x6xf32>) -> (tensor<8x2xf32>, tensor<8x6xf32>) {
  %0 = chlo.erf %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
  %values, %indices = chlo.top_k(%0, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  %1 = stablehlo.einsum %0, %arg1, config = "ij,jk->ik" : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %values, %1 : tensor<8x2xf32>, tensor<8x6xf32>
}

// CHECK: chlo.erf %arg0 : tensor<4x4xf32>
// CHECK-NEXT: %values, %indices = chlo.top_k(%{{.*}}, k = 2) : tensor<4x4xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
// CHECK-NEXT: [[WHOLE:%.+]] = "stablehlo.all_gather"({{.*}} -> tensor<8x4xf32>
// CHECK-NEXT: stablehlo.einsum [[WHOLE]], %arg1, config = "ij,jk->ik" : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
