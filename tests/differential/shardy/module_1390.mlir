module @fuzz {
  sdy.mesh @mesh = <["w"=4]>
  func.func public @main(%arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<4x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w":(2)2, ?}, {?}, {?}]>}, %arg2: tensor<16x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w", ?}, {?}, {}]>}, %arg3: tensor<16x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"w":(1)2, ?}p0, {"w":(2)2, ?}]>}, %arg4: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}], replicated={"w":(2)2}>}, %arg5: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<4x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w", ?}, {}]>}, tensor<4x8x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w", ?}, {?}, {?}, {?}]>}) {
    %0 = sdy.manual_computation(%arg2, %arg1) in_shardings=[<@mesh, [{"w"}, {}, {}]>, <@mesh, [{"w", ?}, {}, {}]>] out_shardings=[<@mesh, [{?}, {"w"}, {?}]>] manual_axes={"w"} (%arg6: tensor<4x2x2xf32>, %arg7: tensor<1x2x2xf32>) {
      %13 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {}]>]>} : tensor<4x4x1xi32>
      %14 = "stablehlo.gather"(%arg6, %13) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>]>} : (tensor<4x2x2xf32>, tensor<4x4x1xi32>) -> tensor<4x4x2xf32>
      %15:3 = stablehlo.optimization_barrier %arg6, %arg7, %14 : tensor<4x2x2xf32>, tensor<1x2x2xf32>, tensor<4x4x2xf32>
      sdy.return %15#2 : tensor<4x4x2xf32>
    } : (tensor<16x2x2xf32>, tensor<4x2x2xf32>) -> tensor<4x16x2xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<4x2x4xf32>
    %1 = "stablehlo.triangular_solve"(%arg1, %cst) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x2x2xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
    %2 = sdy.manual_computation(%arg2, %arg4) in_shardings=[<@mesh, [{?}, {}, {}], replicated={"w"}>, <@mesh, [{}, {?}], replicated={"w"}>] out_shardings=[<@mesh, [{}, {}, {}], replicated={"w"}>] manual_axes={"w"} (%arg6: tensor<16x2x2xf32>, %arg7: tensor<16x4xf32>) {
      %13 = stablehlo.negate %arg7 : tensor<16x4xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [0, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<16x4xf32>) -> tensor<16x12x4xf32>
      sdy.return %14 : tensor<16x12x4xf32>
    } : (tensor<16x2x2xf32>, tensor<16x4xf32>) -> tensor<16x12x4xf32>
    %3 = sdy.sharding_constraint %arg4 <@mesh, [{"w":(1)2}, {}]> : tensor<16x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<4x2x4xf32>, tensor<f32>) -> tensor<4x2xf32>
    %5 = stablehlo.iota dim = 1 : tensor<8x8x1xi32>
    %6 = "stablehlo.gather"(%0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 4, 16, 1>}> : (tensor<4x16x2xf32>, tensor<8x8x1xi32>) -> tensor<8x8x4x16xf32>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<3x3x16x4xf32>
    %7 = stablehlo.convolution(%6, %cst_1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}, {"w", ?}]>]>} : (tensor<8x8x4x16xf32>, tensor<3x3x16x4xf32>) -> tensor<8x4x2x4xf32>
    %8 = stablehlo.exponential %4 : tensor<4x2xf32>
    %9 = call @f0(%7) : (tensor<8x4x2x4xf32>) -> tensor<8x4x2x4xf32>
    %10 = stablehlo.transpose %9, dims = [3, 0, 1, 2] : (tensor<8x4x2x4xf32>) -> tensor<4x8x4x2xf32>
    %11 = stablehlo.slice %8 [0:4, 1:2] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %12 = stablehlo.reverse %10, dims = [1] : tensor<4x8x4x2xf32>
    return %11, %12 : tensor<4x1xf32>, tensor<4x8x4x2xf32>
  }
  func.func private @f0(%arg0: tensor<8x4x2x4xf32>) -> tensor<8x4x2x4xf32> {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<8x1x2x1xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %c_2 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %arg0, %cst, %c, %c_0, %c_1, %c_2 : (tensor<8x4x2x4xf32>, tensor<8x1x2x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x4x2x4xf32>
    return %0 : tensor<8x4x2x4xf32>
  }
}
