module @fuzz {
  sdy.mesh @mesh = <["model"=1, "data"=8, "w"=2]>
  func.func public @main(%arg0: tensor<2x8x2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}p1, {"model"}, {}]>}, %arg1: tensor<4x24x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w", ?}, {?}, {?}]>}) -> (tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"w", "model", ?}]>}, tensor<4x8x4xf32>) {
    %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"model"}>]>} dense<true> : tensor<i1>
    %0 = stablehlo.select %c, %arg1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {}, {"model", ?}], unreduced={"data"}>]>} : tensor<i1>, tensor<4x24x8xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<4x1xi32>
    %1 = "stablehlo.scatter"(%arg1, %c_0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %10 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w"}, {?}, {?}], replicated={"data":(1)4}, unreduced={"model"}>]>} : (tensor<4x24x8xf32>, tensor<4x1xi32>, tensor<4x24x8xf32>) -> tensor<4x24x8xf32>
    %2 = call @f0(%0) : (tensor<4x24x8xf32>) -> tensor<4x4x4x8xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1, 2, 3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"model", ?}p1, {"data", ?}, {"w"}]>]>} : (tensor<4x24x8xf32>) -> tensor<8x4x24x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x4x24x8xf32>, tensor<f32>) -> tensor<4x24x8xf32>
    %5 = sdy.manual_computation(%4) in_shardings=[<@mesh, [{}, {"data", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {}, {?}], replicated={"data"}>] manual_axes={"data"} (%arg2: tensor<4x3x8xf32>) {
      %cst_2 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0.000000e+00> : tensor<f32>
      %10 = "stablehlo.reduce_window"(%arg2, %cst_2) <{padding = dense<[[0, 0], [0, 0], [1, 1]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 1, 3>, window_strides = array<i64: 1, 1, 2>}> ({
      ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
        %11 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
        stablehlo.return %11 : tensor<f32>
      }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>]>} : (tensor<4x3x8xf32>, tensor<f32>) -> tensor<4x3x4xf32>
      sdy.return %10 : tensor<4x3x4xf32>
    } : (tensor<4x24x8xf32>) -> tensor<4x3x4xf32>
    %6 = call @f0(%0) : (tensor<4x24x8xf32>) -> tensor<4x4x4x8xf32>
    %7 = stablehlo.iota dim = 2 : tensor<4x8x8xf32>
    %8 = stablehlo.cholesky %7, lower = true : tensor<4x8x8xf32>
    %cst_1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w", ?}p2, {"data":(2)4, "model", ?}p1, {?}]>]>} dense<1.500000e+00> : tensor<4x8x4xf32>
    %9 = "stablehlo.triangular_solve"(%7, %cst_1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x8x8xf32>, tensor<4x8x4xf32>) -> tensor<4x8x4xf32>
    return %8, %9 : tensor<4x8x8xf32>, tensor<4x8x4xf32>
  }
  func.func private @f0(%arg0: tensor<4x24x8xf32>) -> tensor<4x4x4x8xf32> {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x24x8xf32>
    %1 = stablehlo.iota dim = 1 : tensor<4x4x1xi32>
    %2 = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 4, 1, 8>}> : (tensor<4x24x8xf32>, tensor<4x4x1xi32>) -> tensor<4x4x4x8xf32>
    return %2 : tensor<4x4x4x8xf32>
  }
}
