module @fuzz {
  sdy.mesh @mesh = <["y"=2]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg1: tensor<1x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}, {}]>}, %arg2: tensor<8x4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}, {}]>}, %arg3: tensor<1x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}p1]>}, %arg4: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg5: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}]>}) -> (tensor<32x32xf32>, tensor<2xbf16>, tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<1x4x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y", ?}, {}]>}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<1x32x8xbf16>
    %0 = stablehlo.dot_general %arg3, %cst, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<1x8xbf16>, tensor<1x32x8xbf16>) -> tensor<1x32xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<1x8xbf16>
    %1 = stablehlo.concatenate %arg3, %cst_0, dim = 0 : (tensor<1x8xbf16>, tensor<1x8xbf16>) -> tensor<2x8xbf16>
    %2 = stablehlo.custom_call @foo(%1, %1) : (tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
    %3 = stablehlo.transpose %0, dims = [0, 1] : (tensor<1x32xbf16>) -> tensor<1x32xbf16>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.dynamic_slice %2, %c, %c_1, sizes = [1, 4] : (tensor<2x8xbf16>, tensor<i32>, tensor<i32>) -> tensor<1x4xbf16>
    %c_2 = stablehlo.constant dense<1> : tensor<1x4x1xi32>
    %5 = "stablehlo.gather"(%3, %c_2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<1x32xbf16>, tensor<1x4x1xi32>) -> tensor<1x4xbf16>
    %6 = call @f0(%2) : (tensor<2x8xbf16>) -> tensor<2x8xbf16>
    %7 = stablehlo.reshape %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<1x4xbf16>) -> tensor<2x2xbf16>
    %8 = stablehlo.reshape %7 : (tensor<2x2xbf16>) -> tensor<4xbf16>
    %c_3 = stablehlo.constant dense<1> : tensor<8x4x1xi32>
    %9 = "stablehlo.gather"(%arg2, %c_3) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 32>}> : (tensor<8x4x32xf32>, tensor<8x4x1xi32>) -> tensor<8x4x32xf32>
    %10 = stablehlo.transpose %7, dims = [0, 1] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
    %11 = stablehlo.exponential %10 : tensor<2x2xbf16>
    %cst_4 = stablehlo.constant dense<1.500000e+00> : tensor<3x3x8x2xf32>
    %12 = stablehlo.convolution(%arg1, %cst_4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<3x3x8x2xf32>) -> tensor<1x4x4x2xf32>
    %13 = stablehlo.dot_general %8, %4, contracting_dims = [0] x [1] : (tensor<4xbf16>, tensor<1x4xbf16>) -> tensor<1xbf16>
    %14 = call @f1(%11) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<2x2xbf16>) -> tensor<2xbf16>
    %cst_5 = stablehlo.constant dense<1.500000e+00> : tensor<8x4x32xf32>
    %15 = stablehlo.subtract %9, %cst_5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}, {"y"}]>]>} : tensor<8x4x32xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %16:4 = stablehlo.while(%iterArg = %13, %iterArg_7 = %14, %iterArg_8 = %14, %iterArg_9 = %c_6) : tensor<1xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<i32>
    cond {
      %c_10 = stablehlo.constant dense<3> : tensor<i32>
      %20 = stablehlo.compare LT, %iterArg_9, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %20 = stablehlo.tanh %iterArg : tensor<1xbf16>
      %21 = stablehlo.tanh %iterArg_7 : tensor<2xbf16>
      %22 = stablehlo.tanh %iterArg_8 : tensor<2xbf16>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_9, %c_10 : tensor<i32>
      stablehlo.return %20, %21, %22, %23 : tensor<1xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<i32>
    }
    %17 = "stablehlo.case"(%16#3) ({
      %20 = sdy.sharding_constraint %16#2 <@mesh, [{"y"}]> : tensor<2xbf16>
      %21 = stablehlo.reshape %16#2 : (tensor<2xbf16>) -> tensor<2xbf16>
      stablehlo.return %21 : tensor<2xbf16>
    }, {
      %20 = stablehlo.sine %16#2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}p0]>]>} : tensor<2xbf16>
      stablehlo.return %20 : tensor<2xbf16>
    }) : (tensor<i32>) -> tensor<2xbf16>
    %18 = stablehlo.reshape %15 : (tensor<8x4x32xf32>) -> tensor<32x32xf32>
    %19 = call @f2(%17) : (tensor<2xbf16>) -> tensor<2xbf16>
    return %18, %19, %16#3, %12 : tensor<32x32xf32>, tensor<2xbf16>, tensor<i32>, tensor<1x4x4x2xf32>
  }
  func.func private @f0(%arg0: tensor<2x8xbf16>) -> tensor<2x8xbf16> {
    %0 = stablehlo.custom_call @foo(%arg0, %arg0) : (tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
    return %0 : tensor<2x8xbf16>
  }
  func.func private @f1(%arg0: tensor<2x2xbf16>) -> tensor<2xbf16> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x2xbf16>
    %0 = stablehlo.concatenate %arg0, %arg0, %cst, dim = 0 : (tensor<2x2xbf16>, tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<6x2xbf16>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"y"}]> : tensor<6x2xbf16>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %2 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x2xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<1xbf16>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.dynamic_update_slice %2, %cst_1, %c : (tensor<2xbf16>, tensor<1xbf16>, tensor<i32>) -> tensor<2xbf16>
    return %3 : tensor<2xbf16>
  }
  func.func private @f2(%arg0: tensor<2xbf16>) -> tensor<2xbf16> {
    %0 = stablehlo.reshape %arg0 : (tensor<2xbf16>) -> tensor<2xbf16>
    return %0 : tensor<2xbf16>
  }
}
