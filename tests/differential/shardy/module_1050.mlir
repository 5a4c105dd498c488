module @fuzz {
  sdy.mesh @mesh = <["x"=1, "w"=2, "model"=2, "data"=8]>
  func.func public @main(%arg0: tensor<6x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}, {?}], replicated={"w"}>}, %arg1: tensor<1x6xf32>) -> (tensor<4x4x2x4xf32>, tensor<4x4x2x4x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", "w", ?}, {?}, {?}, {"data", ?}]>}, tensor<1x1xf32>, tensor<2x8x1xf32>) {
    %0 = stablehlo.rsqrt %arg0 : tensor<6x1xf32>
    %1 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w", ?}, {?}], replicated={"model"}>]>} : tensor<6x1xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<4x8x8x2xf32>
    %2 = stablehlo.iota dim = 2 : tensor<1x3x2x4xf32>
    %3 = stablehlo.convolution(%cst, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x2xf32>, tensor<1x3x2x4xf32>) -> tensor<4x4x4x4xf32>
    %4 = stablehlo.reverse %0, dims = [0] : tensor<6x1xf32>
    %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<true> : tensor<i1>
    %5 = stablehlo.select %c, %4, %1 : tensor<i1>, tensor<6x1xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %7 = stablehlo.reshape %5 : (tensor<6x1xf32>) -> tensor<2x3x1xf32>
    %8 = stablehlo.slice %6 [5:6:2, 0:1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}], replicated={"data"}, unreduced={"w"}>]>} : (tensor<6x1xf32>) -> tensor<1x1xf32>
    %cst_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model"}p1, {"w", "x", ?}, {?}]>]>} dense<1.500000e+00> : tensor<2x2x1xf32>
    %9 = stablehlo.concatenate %7, %7, %cst_0, dim = 1 : (tensor<2x3x1xf32>, tensor<2x3x1xf32>, tensor<2x2x1xf32>) -> tensor<2x8x1xf32>
    %10 = stablehlo.transpose %3, dims = [1, 0, 3, 2] : (tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32>
    %11 = stablehlo.complex %10, %3 : tensor<4x4x4x4xcomplex<f32>>
    %12 = stablehlo.fft %11, type = FFT, length = [4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {"x", ?}p1, {"w"}], unreduced={"model"}>]>} : (tensor<4x4x4x4xcomplex<f32>>) -> tensor<4x4x4x4xcomplex<f32>>
    %13 = stablehlo.real %12 : (tensor<4x4x4x4xcomplex<f32>>) -> tensor<4x4x4x4xf32>
    %14 = stablehlo.concatenate %9, %9, dim = 0 : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<4x8x1xf32>
    %15 = stablehlo.custom_call @foo(%14, %14) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model", "w", ?}, {"data", ?}, {?}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=1} need_replication={i}, custom>} : (tensor<4x8x1xf32>, tensor<4x8x1xf32>) -> tensor<4x8x1xf32>
    %16 = stablehlo.iota dim = 3 : tensor<3x1x4x2xf32>
    %17 = stablehlo.convolution(%13, %16) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x4x4x4xf32>, tensor<3x1x4x2xf32>) -> tensor<4x4x4x2xf32>
    %18 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 3] : (tensor<4x8x1xf32>) -> tensor<4x8x4x24xf32>
    %19 = stablehlo.reshape %18 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"model", ?}, {?}, {?}, {"data":(4)2, ?}p2]>]>} : (tensor<4x8x4x24xf32>) -> tensor<4x4x2x4x24xf32>
    %20 = stablehlo.transpose %17, dims = [1, 0, 3, 2] : (tensor<4x4x4x2xf32>) -> tensor<4x4x2x4xf32>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %21 = stablehlo.select %c_1, %19, %19 : tensor<i1>, tensor<4x4x2x4x24xf32>
    return %20, %21, %8, %9 : tensor<4x4x2x4xf32>, tensor<4x4x2x4x24xf32>, tensor<1x1xf32>, tensor<2x8x1xf32>
  }
}
