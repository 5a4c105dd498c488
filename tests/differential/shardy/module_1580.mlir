module @fuzz {
  sdy.mesh @mesh = <["y"=2, "x"=4]>
  func.func public @main(%arg0: tensor<8x32x3xf32>, %arg1: tensor<f32>, %arg2: tensor<3x3x8x32xf32>, %arg3: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}, {"y", ?}]>}, %arg4: tensor<8x2x2x8xf32>) -> (tensor<8x32x3x2xf32>, tensor<f32>, tensor<8x32x32x3xf32>, tensor<i32>) {
    %0 = stablehlo.iota dim = 0 : tensor<8x1xi32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<8x8x32xf32>
    %1 = "stablehlo.scatter"(%arg0, %0, %cst) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %19 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %19 : tensor<f32>
    }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {}, {}]>]>} : (tensor<8x32x3xf32>, tensor<8x1xi32>, tensor<8x8x32xf32>) -> tensor<8x32x3xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 3] : (tensor<8x32x3xf32>) -> tensor<8x32x32x3xf32>
    %3 = stablehlo.reshape %2 : (tensor<8x32x32x3xf32>) -> tensor<8x32x32x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:3 = stablehlo.while(%iterArg = %arg4, %iterArg_2 = %arg1, %iterArg_3 = %c) : tensor<8x2x2x8xf32>, tensor<f32>, tensor<i32>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %19 = stablehlo.compare LT, %iterArg_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %19 = stablehlo.maximum %iterArg, %iterArg : tensor<8x2x2x8xf32>
      %20 = stablehlo.tanh %iterArg_2 : tensor<f32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %iterArg_3, %c_4 : tensor<i32>
      stablehlo.return %19, %20, %21 : tensor<8x2x2x8xf32>, tensor<f32>, tensor<i32>
    }
    %5 = stablehlo.subtract %3, %2 : tensor<8x32x32x3xf32>
    %6 = stablehlo.slice %5 [3:7:2, 0:32, 0:32, 0:3] : (tensor<8x32x32x3xf32>) -> tensor<2x32x32x3xf32>
    %7 = stablehlo.dot_general %3, %5, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<8x32x32x3xf32>, tensor<8x32x32x3xf32>) -> tensor<8x32x3x3xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<8x32x2x3xf32>
    %8 = stablehlo.concatenate %3, %cst_0, dim = 2 : (tensor<8x32x32x3xf32>, tensor<8x32x2x3xf32>) -> tensor<8x32x34x3xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %9:3 = stablehlo.while(%iterArg = %4#1, %iterArg_2 = %7, %iterArg_3 = %c_1) : tensor<f32>, tensor<8x32x3x3xf32>, tensor<i32>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %19 = stablehlo.compare LT, %iterArg_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %19 = stablehlo.custom_call @foo(%iterArg, %iterArg) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %20 = stablehlo.tanh %iterArg_2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x":(2)2, ?}, {?}, {?}]>]>} : tensor<8x32x3x3xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %iterArg_3, %c_4 : tensor<i32>
      stablehlo.return %19, %20, %21 : tensor<f32>, tensor<8x32x3x3xf32>, tensor<i32>
    }
    %10 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(2)2}, {}, {}, {}]>]>} : tensor<8x32x3x3xf32>
    %11 = stablehlo.cholesky %10, lower = true : tensor<8x32x3x3xf32>
    %12 = stablehlo.iota dim = 1 : tensor<8x32x3x4xf32>
    %13 = "stablehlo.triangular_solve"(%10, %12) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<8x32x3x3xf32>, tensor<8x32x3x4xf32>) -> tensor<8x32x3x4xf32>
    %14 = stablehlo.negate %8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}, {?}, {}]>]>} : tensor<8x32x34x3xf32>
    %15 = sdy.sharding_constraint %13 <@mesh, [{"y"}, {}, {}, {}]> : tensor<8x32x3x4xf32>
    %16 = sdy.manual_computation(%6, %14) in_shardings=[<@mesh, [{"y", ?}, {"x", ?}, {?}, {}]>, <@mesh, [{?}, {}, {"y", ?}, {?}], replicated={"x"}>] out_shardings=[<@mesh, [{}, {?}, {"y", ?}, {}], replicated={"x"}>] manual_axes={"y", "x"} (%arg5: tensor<1x8x32x3xf32>, %arg6: tensor<8x32x17x3xf32>) {
      %19 = stablehlo.maximum %arg6, %arg6 : tensor<8x32x17x3xf32>
      sdy.return %19 : tensor<8x32x17x3xf32>
    } : (tensor<2x32x32x3xf32>, tensor<8x32x34x3xf32>) -> tensor<8x32x34x3xf32>
    sdy.sharding_group %11 group_id=0 : tensor<8x32x3x3xf32>
    sdy.sharding_group %9#1 group_id=0 : tensor<8x32x3x3xf32>
    %17 = stablehlo.slice %15 [0:8, 0:32, 0:3, 0:3:2] : (tensor<8x32x3x4xf32>) -> tensor<8x32x3x2xf32>
    %18 = call @f0(%4#1) : (tensor<f32>) -> tensor<f32>
    return %17, %18, %3, %4#2 : tensor<8x32x3x2xf32>, tensor<f32>, tensor<8x32x32x3xf32>, tensor<i32>
  }
  func.func private @f0(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.cosine %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
}
