module @fuzz {
  sdy.mesh @mesh = <["w"=1, "x"=2]>
  func.func public @main(%arg0: tensor<24x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w", ?}, {"x"}]>}, %arg1: tensor<6x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {?}]>}, %arg2: tensor<4x6x6x6xf32>, %arg3: tensor<24x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<6x4x4x4xf32>, tensor<10x8x4x4xf32>, tensor<4x6x6x6xf32>) {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x6x6xf32>
    %1 = stablehlo.add %arg2, %0 : tensor<4x6x6x6xf32>
    %2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{?}, {?}, {}, {}], replicated={"w"}>] out_shardings=[<@mesh, [{"x"}, {?}, {?}, {?}], replicated={"w"}>] manual_axes={"w"} (%arg4: tensor<4x6x6x6xf32>) {
      %cst_2 = stablehlo.constant dense<1.500000e+00> : tensor<4x6x6x6xf32>
      %14 = stablehlo.compare GT, %arg4, %cst_2 : (tensor<4x6x6x6xf32>, tensor<4x6x6x6xf32>) -> tensor<4x6x6x6xi1>
      %15 = stablehlo.select %14, %arg4, %cst_2 : tensor<4x6x6x6xi1>, tensor<4x6x6x6xf32>
      sdy.return %15 : tensor<4x6x6x6xf32>
    } : (tensor<4x6x6x6xf32>) -> tensor<4x6x6x6xf32>
    %3 = stablehlo.iota dim = 1 : tensor<4x6x6x6xi32>
    %4:2 = "stablehlo.sort"(%1, %3) <{dimension = 3 : i64, is_stable = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<i32>, %arg7: tensor<i32>):
      %14 = stablehlo.compare LT, %arg4, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    }) : (tensor<4x6x6x6xf32>, tensor<4x6x6x6xi32>) -> (tensor<4x6x6x6xf32>, tensor<4x6x6x6xi32>)
    %5 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{}, {}, {}, {"x"}]>] out_shardings=[<@mesh, [{}, {?}, {"x"}, {?}]>] manual_axes={"x"} (%arg4: tensor<4x6x6x3xf32>) {
      %14 = stablehlo.reshape %arg4 : (tensor<4x6x6x3xf32>) -> tensor<4x6x2x3x3xf32>
      %15 = stablehlo.reshape %14 : (tensor<4x6x2x3x3xf32>) -> tensor<4x12x3x3xf32>
      sdy.return %15 : tensor<4x12x3x3xf32>
    } : (tensor<4x6x6x6xf32>) -> tensor<4x12x6x3xf32>
    %6 = stablehlo.custom_call @foo(%1, %1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l], [i, j, k, l])->([i, j, k, l]) {i=4, j=6, k=6, l=6} permutation={l}, custom>} : (tensor<4x6x6x6xf32>, tensor<4x6x6x6xf32>) -> tensor<4x6x6x6xf32>
    %7 = call @f0(%arg3) : (tensor<24x4xf32>) -> tensor<8x8x4x4xf32>
    %8 = stablehlo.slice %6 [0:4, 5:6, 0:6, 0:6] : (tensor<4x6x6x6xf32>) -> tensor<4x1x6x6xf32>
    %9 = stablehlo.iota dim = 3 : tensor<32x6x1x4xf32>
    %10 = stablehlo.dot_general %8, %9, batching_dims = [2, 0] x [1, 3], contracting_dims = [1] x [2] : (tensor<4x1x6x6xf32>, tensor<32x6x1x4xf32>) -> tensor<6x4x6x32xf32>
    %11 = stablehlo.cholesky %4#0, lower = true : tensor<4x6x6x6xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<1x3x32x4xf32>
    %12 = stablehlo.convolution(%10, %cst_0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<6x4x6x32xf32>, tensor<1x3x32x4xf32>) -> tensor<6x4x4x4xf32>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<2x8x4x4xf32>
    %13 = stablehlo.concatenate %7, %cst_1, dim = 0 : (tensor<8x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<10x8x4x4xf32>
    return %12, %13, %11 : tensor<6x4x4x4xf32>, tensor<10x8x4x4xf32>, tensor<4x6x6x6xf32>
  }
  func.func private @f0(%arg0: tensor<24x4xf32>) -> tensor<8x8x4x4xf32> {
    %0 = stablehlo.iota dim = 3 : tensor<8x8x4x4xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<1x1x1x4xf32>
    %1 = stablehlo.convolution(%0, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<8x8x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<8x8x4x4xf32>
    return %1 : tensor<8x8x4x4xf32>
  }
}
