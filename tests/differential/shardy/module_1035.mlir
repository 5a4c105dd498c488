module @fuzz {
  sdy.mesh @mesh = <["data"=8]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {}]>}, %arg1: tensor<f32>, %arg2: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"data", ?}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<4x8xf32>) {
    %0 = stablehlo.negate %arg2 : tensor<4x8xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"data":(4)2}p1]>]>} : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"data":(1)2, ?}, {?}, {?}]> : tensor<2x4x8xf32>
    %3 = stablehlo.custom_call @foo(%arg2, %arg2) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8}, custom>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.subtract %1, %2 : tensor<2x4x8xf32>
    sdy.sharding_group %4 group_id=0 : tensor<2x4x8xf32>
    sdy.sharding_group %1 group_id=0 : tensor<2x4x8xf32>
    sdy.sharding_group %2 group_id=0 : tensor<2x4x8xf32>
    %5 = stablehlo.add %3, %0 : tensor<4x8xf32>
    %6 = call @f0(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %7 = stablehlo.multiply %5, %3 : tensor<4x8xf32>
    %8 = stablehlo.custom_call @foo(%arg1, %arg1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %9 = stablehlo.iota dim = 0 : tensor<4x1xi32>
    %10 = "stablehlo.scatter"(%7, %9, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %11 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %11 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %8, %10 : tensor<f32>, tensor<4x8xf32>
  }
  func.func private @f0(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
