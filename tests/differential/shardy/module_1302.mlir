module @fuzz {
  sdy.mesh @mesh = <["w"=2, "model"=4, "z"=4]>
  func.func public @main(%arg0: tensor<8x3x8xf32>, %arg1: tensor<2x2x3x2xf32>, %arg2: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg3: tensor<12x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(1)2}, {}], replicated={"model"}>}, %arg4: tensor<3x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"z":(1)2, "w", ?}]>}, %arg5: tensor<3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) -> (tensor<3x16x16x16xf32>, tensor<3x16x16x16xf32>) {
    %0 = stablehlo.reshape %arg4 : (tensor<3x12xf32>) -> tensor<3x6x2xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<1x6x1xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %0, %cst, %c, %c_0, %c_1 : (tensor<3x6x2xf32>, tensor<1x6x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x6x2xf32>
    %2 = call @f0(%arg4) : (tensor<3x12xf32>) -> tensor<3x2xf32>
    %3 = stablehlo.compare GT, %1, %1 : (tensor<3x6x2xf32>, tensor<3x6x2xf32>) -> tensor<3x6x2xi1>
    %4 = stablehlo.select %3, %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"z":(2)2, ?}p1, {?}]>]>} : tensor<3x6x2xi1>, tensor<3x6x2xf32>
    %cst_2 = stablehlo.constant dense<1.500000e+00> : tensor<3x2xf32>
    %cst_3 = stablehlo.constant dense<1.500000e+00> : tensor<2x2xf32>
    %5 = stablehlo.concatenate %2, %cst_2, %cst_3, dim = 0 : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
    %6 = stablehlo.iota dim = 0 : tensor<16x1xi32>
    %7 = "stablehlo.gather"(%arg5, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z":(1)2, "w", "model":(2)2, ?}, {}]>]>} : (tensor<3x3xf32>, tensor<16x1xi32>) -> tensor<16x3xf32>
    %8 = sdy.sharding_constraint %4 <@mesh, [{?}, {"model":(1)2, ?}, {"w", ?}]> : tensor<3x6x2xf32>
    %9 = stablehlo.custom_call @foo(%7, %7) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=16, j=3} permutation={j}, custom>} : (tensor<16x3xf32>, tensor<16x3xf32>) -> tensor<16x3xf32>
    %10 = call @f1(%9) : (tensor<16x3xf32>) -> tensor<3x4xf32>
    %11:2 = stablehlo.optimization_barrier %8, %5 : tensor<3x6x2xf32>, tensor<8x2xf32>
    %12 = stablehlo.iota dim = 2 : tensor<16x16x1xi32>
    %13 = "stablehlo.gather"(%11#0, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1, 2>}> : (tensor<3x6x2xf32>, tensor<16x16x1xi32>) -> tensor<16x16x3x2xf32>
    %14 = stablehlo.reshape %13 : (tensor<16x16x3x2xf32>) -> tensor<16x16x3x2xf32>
    %15 = call @f2(%13) : (tensor<16x16x3x2xf32>) -> tensor<32x16x3x8xf32>
    %16 = stablehlo.dot_general %13, %14, batching_dims = [2, 1] x [2, 0], contracting_dims = [3] x [3] : (tensor<16x16x3x2xf32>, tensor<16x16x3x2xf32>) -> tensor<3x16x16x16xf32>
    %17 = stablehlo.add %16, %16 : tensor<3x16x16x16xf32>
    %18 = stablehlo.custom_call @foo(%16, %16) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l], [i, j, k, l])->([i, j, k, l]) {i=3, j=16, k=16, l=16}, custom>} : (tensor<3x16x16x16xf32>, tensor<3x16x16x16xf32>) -> tensor<3x16x16x16xf32>
    return %17, %18 : tensor<3x16x16x16xf32>, tensor<3x16x16x16xf32>
  }
  func.func private @f0(%arg0: tensor<3x12xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<12x2xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<3x12xf32>, tensor<12x2xf32>) -> tensor<3x2xf32>
    return %1 : tensor<3x2xf32>
  }
  func.func private @f1(%arg0: tensor<16x3xf32>) -> tensor<3x4xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<16x4xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [0] x [0] : (tensor<16x3xf32>, tensor<16x4xf32>) -> tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
  func.func private @f2(%arg0: tensor<16x16x3x2xf32>) -> tensor<32x16x3x8xf32> {
    %0 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<16x16x3x2xf32>, tensor<16x16x3x2xf32>) -> tensor<32x16x3x2xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<3x3x2x8xf32>
    %1 = stablehlo.convolution(%0, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x16x3x2xf32>, tensor<3x3x2x8xf32>) -> tensor<32x16x3x8xf32>
    return %1 : tensor<32x16x3x8xf32>
  }
}
