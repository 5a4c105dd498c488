module @fuzz {
  sdy.mesh @mesh = <["z"=4]>
  func.func public @main(%arg0: tensor<24x3xf32>, %arg1: tensor<24x24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"z":(2)2}>}, %arg2: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(2)2, ?}]>}) -> (tensor<1x24xbf16>, tensor<4x6xbf16>) {
    %0 = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], replicated={"z"}>]>} : (tensor<24x3xf32>) -> tensor<24x3xbf16>
    %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"z"}]>]>} : (tensor<24x3xbf16>) -> tensor<3x24xbf16>
    %2 = sdy.sharding_constraint %arg0 <@mesh, [{?}, {}]> : tensor<24x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8x8x8x2xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<3x1x1x4xbf16>
    %3 = stablehlo.convolution(%cst, %cst_0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<8x8x8x2xbf16>, tensor<3x1x1x4xbf16>) -> tensor<8x6x8x4xbf16>
    %4 = stablehlo.custom_call @foo(%0, %0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=24, j=3}, custom>} : (tensor<24x3xbf16>, tensor<24x3xbf16>) -> tensor<24x3xbf16>
    %5 = stablehlo.slice %1 [1:2:2, 0:24] : (tensor<3x24xbf16>) -> tensor<1x24xbf16>
    %6 = stablehlo.tanh %3 : tensor<8x6x8x4xbf16>
    %7 = stablehlo.transpose %0, dims = [0, 1] : (tensor<24x3xbf16>) -> tensor<24x3xbf16>
    %8 = stablehlo.dot_general %7, %0, batching_dims = [1] x [1], contracting_dims = [0] x [0] : (tensor<24x3xbf16>, tensor<24x3xbf16>) -> tensor<3xbf16>
    %9 = sdy.manual_computation(%6) in_shardings=[<@mesh, [{}, {?}, {?}, {"z"}]>] out_shardings=[<@mesh, [{}, {"z", ?}, {?}, {?}]>] manual_axes={"z"} (%arg3: tensor<8x6x8x1xbf16>) {
      %18 = stablehlo.sine %arg3 : tensor<8x6x8x1xbf16>
      sdy.return %18 : tensor<8x6x8x1xbf16>
    } : (tensor<8x6x8x4xbf16>) -> tensor<8x24x8x1xbf16>
    %10 = stablehlo.rsqrt %5 : tensor<1x24xbf16>
    %11 = sdy.sharding_constraint %9 <@mesh, [{?}, {?}, {"z":(2)2}, {}]> : tensor<8x24x8x1xbf16>
    %12 = stablehlo.broadcast_in_dim %8, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}, {}]>]>} : (tensor<3xbf16>) -> tensor<24x3xbf16>
    %13 = stablehlo.concatenate %7, %12, %4, dim = 1 : (tensor<24x3xbf16>, tensor<24x3xbf16>, tensor<24x3xbf16>) -> tensor<24x9xbf16>
    %14 = stablehlo.maximum %13, %13 : tensor<24x9xbf16>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %15 = stablehlo.reduce(%14 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<24x9xbf16>, tensor<bf16>) -> tensor<24xbf16>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %16 = stablehlo.dynamic_update_slice %10, %5, %c, %c_2 : (tensor<1x24xbf16>, tensor<1x24xbf16>, tensor<i32>, tensor<i32>) -> tensor<1x24xbf16>
    %17 = stablehlo.reshape %15 : (tensor<24xbf16>) -> tensor<4x6xbf16>
    return %16, %17 : tensor<1x24xbf16>, tensor<4x6xbf16>
  }
}
