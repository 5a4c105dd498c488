// chlo.top_k
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
  %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %values, %indices : tensor<8x2xf32>, tensor<8x2xi32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
// CHECK-NEXT:   %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
// CHECK-NEXT:   return %values, %indices : tensor<8x2xf32>, tensor<8x2xi32>
// CHECK-NEXT: }

// SHARD: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
// SHARD-NEXT:   %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<8x4xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
// SHARD-NEXT:   return %values, %indices : tensor<8x2xf32>, tensor<8x2xi32>
// SHARD-NEXT: }
