module @fuzz {
  sdy.mesh @mesh = <["y"=8]>
  func.func public @main(%arg0: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<4x2x24xf32>) -> (tensor<1x24x12x1xf32>, tensor<16x12x2x4xf32>, tensor<2x8xf32>) {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<2x6xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<2x12x12xf32>
    %1 = stablehlo.cholesky %cst, lower = true : tensor<2x12x12xf32>
    %2 = stablehlo.iota dim = 1 : tensor<2x12x4xf32>
    %3 = "stablehlo.triangular_solve"(%cst, %2) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x12x12xf32>, tensor<2x12x4xf32>) -> tensor<2x12x4xf32>
    %4 = call @f0(%3) : (tensor<2x12x4xf32>) -> tensor<3x4x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.pad %0, %cst_0, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2x8xf32>
    %6 = sdy.sharding_constraint %4 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7:3 = stablehlo.while(%iterArg = %3, %iterArg_5 = %1, %iterArg_6 = %c) : tensor<2x12x4xf32>, tensor<2x12x12xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"y":(4)2, ?}, {"y":(1)4, ?}]>, <@mesh, [{?}, {"y":(1)2, ?}, {}]>, <@mesh, []>]>}
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %21 = stablehlo.compare LT, %iterArg_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    } do {
      %21 = stablehlo.tanh %iterArg : tensor<2x12x4xf32>
      %22 = stablehlo.tanh %iterArg_5 : tensor<2x12x12xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_6, %c_7 : tensor<i32>
      stablehlo.return %21, %22, %23 : tensor<2x12x4xf32>, tensor<2x12x12xf32>, tensor<i32>
    }
    %8 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>]>} : tensor<2x12x12xf32>
    %9 = stablehlo.cholesky %8, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {}]>]>} : tensor<2x12x12xf32>
    %10 = "stablehlo.sort"(%9) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %21 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    }) : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %11 = stablehlo.dot_general %0, %arg0, batching_dims = [1] x [1], contracting_dims = [0] x [0] : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<6xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12:2 = stablehlo.while(%iterArg = %10, %iterArg_5 = %c_1) : tensor<2x12x12xf32>, tensor<i32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %21 = stablehlo.compare LT, %iterArg_5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    } do {
      %21 = stablehlo.tanh %iterArg : tensor<2x12x12xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %22 = stablehlo.add %iterArg_5, %c_6 : tensor<i32>
      stablehlo.return %21, %22 : tensor<2x12x12xf32>, tensor<i32>
    }
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.maximum across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<2x12x4xf32>
    %15 = stablehlo.slice %14 [0:2, 0:12, 0:1] : (tensor<2x12x4xf32>) -> tensor<2x12x1xf32>
    %16 = stablehlo.dynamic_slice %15, %12#1, %12#1, %7#2, sizes = [1, 12, 1] : (tensor<2x12x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x1xf32>
    %17 = stablehlo.transpose %15, dims = [2, 1, 0] : (tensor<2x12x1xf32>) -> tensor<1x12x2xf32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0, 2, 3] : (tensor<1x12x1xf32>) -> tensor<1x24x12x1xf32>
    %cst_3 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %19 = stablehlo.clamp %cst_3, %18, %cst_4 : (tensor<f32>, tensor<1x24x12x1xf32>, tensor<f32>) -> tensor<1x24x12x1xf32>
    %20 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<1x12x2xf32>) -> tensor<16x12x2x4xf32>
    return %19, %20, %5 : tensor<1x24x12x1xf32>, tensor<16x12x2x4xf32>, tensor<2x8xf32>
  }
  func.func private @f0(%arg0: tensor<2x12x4xf32>) -> tensor<3x4x4xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 1:5, 0:4] : (tensor<2x12x4xf32>) -> tensor<2x4x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %0, %cst, low = [2, 0, 0], high = [-1, 0, 0], interior = [0, 0, 0] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<3x4x4xf32>
    %2 = stablehlo.abs %1 : tensor<3x4x4xf32>
    return %2 : tensor<3x4x4xf32>
  }
}
