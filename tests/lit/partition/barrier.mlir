// Behind propagation a barrier is nothing but the place where a sharding may change.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
// CHECK: func.func @main(%arg0: tensor<4xf32>
// CHECK-NEXT: %[[G:.*]] = "stablehlo.all_gather"(%arg0)
// CHECK-NEXT: return %[[G]], %arg0
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8xf32>
  %1 = sdy.propagation_barrier %arg0 allowed_direction=FORWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
