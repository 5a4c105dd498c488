// A constraint that makes parts of an argument does not ask for the argument in parts; where the
// source says that it comes so, it does.
// RUN: not terrazzo run %s --devices 2 --dump partition 2>&1 | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
// CHECK: func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>
// CHECK-SAME: %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>
// CHECK: %[[P:.*]] = stablehlo.select %{{.*}}, %arg0, %{{.*}} : tensor<i1>, tensor<4xf32>
// CHECK: "stablehlo.all_reduce"(%[[P]], %arg1)
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
  %1 = stablehlo.cosine %0 : tensor<4xf32>
  %2 = stablehlo.cosine %arg1 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
