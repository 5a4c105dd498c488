// dialect_agnostic_sharding, constant splitting: the sharded add leaves the other users of the constant alone.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-aggressive-propagate' | FileCheck %s

sdy.mesh @mesh = <["a"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %cst = stablehlo.constant dense<2.000000e+00> : tensor<8xf32>
  %0 = stablehlo.add %arg0, %cst : tensor<8xf32>
  %1 = stablehlo.divide %arg1, %cst : tensor<8xf32>
  %2 = stablehlo.subtract %arg2, %cst : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}, tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT:   %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>} dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT:   %1 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT:   %2 = sdy.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT:   %3 = stablehlo.add %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>} : tensor<8xf32>
// CHECK-NEXT:   %4 = stablehlo.divide %arg1, %1 : tensor<8xf32>
// CHECK-NEXT:   %5 = stablehlo.subtract %arg2, %2 : tensor<8xf32>
// CHECK-NEXT:   return %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
