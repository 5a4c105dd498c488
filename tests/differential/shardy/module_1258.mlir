module @fuzz {
  sdy.mesh @mesh = <["y"=2, "x"=4]>
  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}, tensor<2xf32>, tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.exponential %arg1 : tensor<4xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_slice %0, %c, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %2 = stablehlo.slice %0 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
    %3 = call @f0(%arg0) : (tensor<4xf32>) -> tensor<1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %5:4 = stablehlo.while(%iterArg = %0, %iterArg_4 = %1, %iterArg_5 = %4, %iterArg_6 = %c_0) : tensor<4xf32>, tensor<1xf32>, tensor<f32>, tensor<i32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %33 = stablehlo.compare LT, %iterArg_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %33 : tensor<i1>
    } do {
      %33 = stablehlo.tanh %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], replicated={"x"}>]>} : tensor<4xf32>
      %34 = stablehlo.tanh %iterArg_4 : tensor<1xf32>
      %35 = stablehlo.tanh %iterArg_5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<f32>
      %c_7 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
      %36 = stablehlo.add %iterArg_6, %c_7 : tensor<i32>
      stablehlo.return %33, %34, %35, %36 : tensor<4xf32>, tensor<1xf32>, tensor<f32>, tensor<i32>
    }
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
    %7 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
    %8 = stablehlo.clamp %6, %0, %7 : tensor<4xf32>
    %9 = stablehlo.custom_call @foo(%5#0, %5#0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=4} permutation={i}, custom>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %10 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
    %11 = stablehlo.compare GT, %5#0, %10 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %12 = stablehlo.select %11, %5#0, %10 : tensor<4xi1>, tensor<4xf32>
    %13 = stablehlo.compare GT, %12, %5#0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}], unreduced={"x":(1)2}>]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %14 = stablehlo.select %13, %12, %5#0 : tensor<4xi1>, tensor<4xf32>
    %15 = stablehlo.iota dim = 0 : tensor<4xf32>
    %16 = stablehlo.compare GT, %12, %15 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %17 = stablehlo.select %16, %12, %15 : tensor<4xi1>, tensor<4xf32>
    %18 = stablehlo.rsqrt %17 : tensor<4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.maximum across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
    %20 = stablehlo.dot_general %9, %8, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %21 = "stablehlo.case"(%5#3) ({
      %33 = stablehlo.sine %20 : tensor<4xf32>
      stablehlo.return %33 : tensor<4xf32>
    }, {
      %33 = stablehlo.sine %20 : tensor<4xf32>
      stablehlo.return %33 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_2) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %23 = sdy.manual_computation(%18, %14) in_shardings=[<@mesh, [{"x"}], replicated={"y"}>, <@mesh, [{"x"}], replicated={"y"}>] out_shardings=[<@mesh, [{"y"}], replicated={"x"}>] manual_axes={"y", "x"} (%arg2: tensor<1xf32>, %arg3: tensor<1xf32>) {
      %33 = stablehlo.concatenate %arg2, %arg2, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %34 = sdy.sharding_constraint %33 <@mesh, [{?}]> : tensor<2xf32>
      sdy.return %34 : tensor<2xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %24 = stablehlo.iota dim = 0 : tensor<8x1xi32>
    %25 = stablehlo.iota dim = 0 : tensor<8xf32>
    %26 = "stablehlo.scatter"(%2, %24, %25) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %33 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %33 : tensor<f32>
    }) : (tensor<2xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<2xf32>
    %27 = sdy.sharding_constraint %22 <@mesh, []> : tensor<f32>
    %28 = stablehlo.optimization_barrier %26 : tensor<2xf32>
    %29 = sdy.sharding_constraint %3 <@mesh, [{?}], replicated={"y"}> : tensor<1xf32>
    %30 = stablehlo.broadcast_in_dim %26, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %31 = stablehlo.select %c_3, %30, %30 : tensor<i1>, tensor<4x2xf32>
    %32 = stablehlo.reshape %28 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}], unreduced={"x"}>]>} : (tensor<2xf32>) -> tensor<2xf32>
    return %31, %32, %19 : tensor<4x2xf32>, tensor<2xf32>, tensor<f32>
  }
  func.func private @f0(%arg0: tensor<4xf32>) -> tensor<1xf32> {
    %0 = stablehlo.slice %arg0 [1:2:2] : (tensor<4xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}
