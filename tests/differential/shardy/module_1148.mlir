module @fuzz {
  sdy.mesh @mesh = <["z"=2, "x"=4, "y"=1]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x", "y"}]>}, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<4x2x4xf32>, tensor<8x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {"z"}, {"y", ?}p2, {?}]>}, tensor<8x8x4x2xf32>, tensor<f32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<8xf32>
    %2 = stablehlo.custom_call @foo(%0, %0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2, "y", "z", ?}p1]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.add %2, %0 : tensor<8xf32>
    %4 = stablehlo.multiply %arg1, %arg1 : tensor<f32>
    %5 = stablehlo.abs %2 : tensor<8xf32>
    %6 = stablehlo.dot_general %1, %3, batching_dims = [0] x [0], contracting_dims = [] x [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", "z", "x":(2)2, ?}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %7 = stablehlo.reverse %3, dims = [0] : tensor<8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8:3 = stablehlo.while(%iterArg = %6, %iterArg_7 = %2, %iterArg_8 = %c) : tensor<8xf32>, tensor<8xf32>, tensor<i32>
    cond {
      %c_9 = stablehlo.constant dense<3> : tensor<i32>
      %31 = stablehlo.compare LT, %iterArg_8, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %31 : tensor<i1>
    } do {
      %c_9 = stablehlo.constant dense<1> : tensor<8x1xi32>
      %31 = "stablehlo.scatter"(%2, %c_9, %0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %34 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %34 : tensor<f32>
      }) : (tensor<8xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8xf32>
      %32 = stablehlo.tanh %iterArg_7 : tensor<8xf32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_8, %c_10 : tensor<i32>
      stablehlo.return %31, %32, %33 : tensor<8xf32>, tensor<8xf32>, tensor<i32>
    }
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = "stablehlo.reduce_window"(%2, %cst) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %31 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %31 : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %10 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> tensor<8xf32>
    %11 = stablehlo.dynamic_update_slice %7, %10, %8#2 : (tensor<8xf32>, tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.select %c_0, %5, %0 : tensor<i1>, tensor<8xf32>
    %13 = sdy.sharding_constraint %6 <@mesh, [{"y", "z"}]> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<8x8x4x2xf32>
    %14 = stablehlo.iota dim = 3 : tensor<1x3x1x2xf32>
    %15 = stablehlo.convolution(%cst_1, %14) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<8x8x4x2xf32>, tensor<1x3x1x2xf32>) -> tensor<8x8x4x2xf32>
    sdy.sharding_group %9 group_id=0 : tensor<8xf32>
    sdy.sharding_group %12 group_id=0 : tensor<8xf32>
    sdy.sharding_group %5 group_id=0 : tensor<8xf32>
    %c_2 = stablehlo.constant dense<1> : tensor<2x1xi32>
    %16 = stablehlo.iota dim = 0 : tensor<2xf32>
    %17 = "stablehlo.scatter"(%11, %c_2, %16) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %31 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %31 : tensor<f32>
    }) : (tensor<8xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<8xf32>
    %18 = stablehlo.reshape %17 : (tensor<8xf32>) -> tensor<2x2x2xf32>
    %19 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %20 = stablehlo.add %17, %19 : tensor<8xf32>
    %21 = stablehlo.reshape %1 : (tensor<8xf32>) -> tensor<8xf32>
    %22 = stablehlo.subtract %18, %18 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"z"}p0, {"y", "x":(1)2}]>]>} : tensor<2x2x2xf32>
    %cst_3 = stablehlo.constant dense<1.500000e+00> : tensor<1x1x1x4xf32>
    %23 = stablehlo.convolution(%15, %cst_3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<8x8x4x2xf32>, tensor<1x1x1x4xf32>) -> tensor<8x8x4x4xf32>
    %24 = stablehlo.convert %20 : (tensor<8xf32>) -> tensor<8xbf16>
    %25 = stablehlo.reshape %21 : (tensor<8xf32>) -> tensor<2x4xf32>
    %cst_4 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%13 init: %cst_4) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %27:4 = stablehlo.while(%iterArg = %24, %iterArg_7 = %22, %iterArg_8 = %25, %iterArg_9 = %c_5) : tensor<8xbf16>, tensor<2x2x2xf32>, tensor<2x4xf32>, tensor<i32>
    cond {
      %c_10 = stablehlo.constant dense<3> : tensor<i32>
      %31 = stablehlo.compare LT, %iterArg_9, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %31 : tensor<i1>
    } do {
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %31:3 = stablehlo.while(%iterArg_12 = %iterArg_7, %iterArg_13 = %iterArg_8, %iterArg_14 = %c_10) : tensor<2x2x2xf32>, tensor<2x4xf32>, tensor<i32>
      cond {
        %c_15 = stablehlo.constant dense<3> : tensor<i32>
        %34 = stablehlo.compare LT, %iterArg_14, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %34 : tensor<i1>
      } do {
        %34 = stablehlo.tanh %iterArg_12 : tensor<2x2x2xf32>
        %35 = stablehlo.tanh %iterArg_13 : tensor<2x4xf32>
        %c_15 = stablehlo.constant dense<1> : tensor<i32>
        %36 = stablehlo.add %iterArg_14, %c_15 : tensor<i32>
        stablehlo.return %34, %35, %36 : tensor<2x2x2xf32>, tensor<2x4xf32>, tensor<i32>
      }
      %32 = stablehlo.tanh %iterArg : tensor<8xbf16>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_9, %c_11 : tensor<i32>
      stablehlo.return %32, %31#0, %31#1, %33 : tensor<8xbf16>, tensor<2x2x2xf32>, tensor<2x4xf32>, tensor<i32>
    }
    %28 = stablehlo.broadcast_in_dim %27#2, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<4x2x4xf32>
    %29 = sdy.sharding_constraint %28 <@mesh, [{"x"}, {"y"}, {"z", ?}]> : tensor<4x2x4xf32>
    %cst_6 = stablehlo.constant dense<1.500000e+00> : tensor<8x8x4x4xf32>
    %30 = stablehlo.subtract %cst_6, %23 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}, {?}]>]>} : tensor<8x8x4x4xf32>
    return %28, %30, %15, %26 : tensor<4x2x4xf32>, tensor<8x8x4x4xf32>, tensor<8x8x4x2xf32>, tensor<f32>
  }
}
