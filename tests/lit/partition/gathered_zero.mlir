// Parts of a scatter's updates sum up where it begins with zeros, also where these were brought from
// another sharding by a collective.
// RUN: terrazzo run %s --devices 4 --dry-run | FileCheck %s
// CHECK: all_reduce

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<1x8x12xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}]>},
                %arg1: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<8x3xf32>
  %0 = sdy.sharding_constraint %zero <@mesh, [{"x"}, {"y"}]> : tensor<8x3xf32>
  %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<1x8x12xi32>, tensor<8x12xf32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}
