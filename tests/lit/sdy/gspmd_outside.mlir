// A shard beside a whole value: JAX makes no such program.
// RUN: not terrazzo opt %s -terrazzo-import-gspmd 2>&1 | FileCheck %s

// CHECK: error: 'stablehlo.multiply' op is in a manual computation and uses a value from outside of it
func.func @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[8]<=[8]}"}, %arg1: tensor<1xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<1xf32>
  %1 = stablehlo.multiply %0, %arg1 : tensor<1xf32>
  %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<1xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
