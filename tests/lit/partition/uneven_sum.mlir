// Parts of a sum along x: what brings the sum to y, unevenly, takes devices along x for copies, so
// that it is summed up before.
// RUN: terrazzo partition %s | FileCheck %s

// CHECK: stablehlo.reduce(
// CHECK-NOT: {{dynamic_slice|all_gather|all_to_all}}
// CHECK: "stablehlo.reduce_scatter"{{.*}}{{\[\[}}0, 6], [1, 7], [2, 8], [3, 9], [4, 10], [5, 11]]
// CHECK: all_gather

sdy.mesh @mesh = <["x"=2, "y"=6]>
func.func @main(%arg0: tensor<4x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}, {}]>}) -> tensor<4x4x8xf32> {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4x4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}, {}]> : tensor<4x8xf32>
  %2 = stablehlo.tanh %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<4x8xf32>
  %4 = stablehlo.broadcast_in_dim %2, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<4x4x8xf32>
  return %4 : tensor<4x4x8xf32>
}
