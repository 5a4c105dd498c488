module @fuzz {
  sdy.mesh @mesh = <["w"=2, "y"=8, "data"=4]>
  func.func public @main(%arg0: tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data":(2)2}, {}]>}, %arg1: tensor<16x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "w"}, {}, {?}]>}, %arg2: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {?}, {"y", ?}p0]>}, %arg3: tensor<8x8xbf16>) -> (tensor<8x16x2xf32>, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"y", ?}]>}) {
    %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"data", ?}, {"w", ?}]>, <@mesh, [{?}, {"data", ?}p2, {?}]>]>} %arg1, %arg1 : tensor<16x8x2xf32>, tensor<16x8x2xf32>
    %1 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data", ?}p1, {?}, {}]>]>} : tensor<16x8x2xf32>
    %2 = stablehlo.maximum %1, %arg1 : tensor<16x8x2xf32>
    %3 = sdy.sharding_constraint %arg1 <@mesh, [{}, {"y"}p0, {}]> : tensor<16x8x2xf32>
    %4 = stablehlo.reshape %0#1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data", ?}p1, {"w", ?}p0, {?}]>]>} : (tensor<16x8x2xf32>) -> tensor<8x16x2xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
    %5 = stablehlo.dynamic_update_slice %4, %4, %c, %c_0, %c_1 : (tensor<8x16x2xf32>, tensor<8x16x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x16x2xf32>
    %6 = stablehlo.exponential %5 : tensor<8x16x2xf32>
    %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], replicated={"y":(2)4}>]>} dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", "w", ?}, {"data"}]>]>} : (tensor<16x8x2xf32>, tensor<f32>) -> tensor<16x8xf32>
    %8 = stablehlo.compare GT, %7, %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data":(1)2, "y", ?}, {?}]>]>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xi1>
    %9 = stablehlo.select %8, %7, %7 : tensor<16x8xi1>, tensor<16x8xf32>
    %c_2 = stablehlo.constant dense<1> : tensor<8x1xi32>
    %10 = "stablehlo.scatter"(%6, %c_2, %5) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %12 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %12 : tensor<f32>
    }) : (tensor<8x16x2xf32>, tensor<8x1xi32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
    %11 = stablehlo.multiply %9, %9 : tensor<16x8xf32>
    return %10, %11 : tensor<8x16x2xf32>, tensor<16x8xf32>
  }
}
