module @fuzz {
  sdy.mesh @mesh = <["data"=3, "z"=2, "w"=2]>
  func.func public @main(%arg0: tensor<4x4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}, {?}, {"w", ?}, {?}], replicated={"data"}>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"w", ?}]>}, %arg2: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}]>}, %arg3: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {?}, {}]>}) -> (tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, [], replicated={"data", "w"}>}, tensor<8x8xf32>) {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<4x4x8x4xf32>
    %0 = stablehlo.concatenate %arg0, %cst, dim = 3 : (tensor<4x4x8x4xf32>, tensor<4x4x8x4xf32>) -> tensor<4x4x8x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %0, %cst_0, low = [1, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<4x4x8x8xf32>, tensor<f32>) -> tensor<5x4x8x8xf32>
    %2 = stablehlo.cholesky %arg1, lower = true : tensor<8x8xf32>
    %3 = stablehlo.reshape %arg1 : (tensor<8x8xf32>) -> tensor<4x16xf32>
    %4 = stablehlo.reshape %3 : (tensor<4x16xf32>) -> tensor<2x2x16xf32>
    %5 = stablehlo.tanh %4 : tensor<2x2x16xf32>
    %6 = stablehlo.reverse %1, dims = [2] : tensor<5x4x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7:3 = stablehlo.while(%iterArg = %5, %iterArg_4 = %4, %iterArg_5 = %c) : tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {"w", ?}]>, <@mesh, [{"w", ?}, {?}, {"z", ?}], replicated={"data"}>, <@mesh, []>]>}
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %17 = stablehlo.compare LT, %iterArg_5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %17 = stablehlo.reverse %iterArg_4, dims = [0] : tensor<2x2x16xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_5, %c_6 : tensor<i32>
      stablehlo.return %17, %17, %18 : tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<i32>
    }
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %8:4 = stablehlo.while(%iterArg = %6, %iterArg_4 = %7#0, %iterArg_5 = %7#1, %iterArg_6 = %c_1) : tensor<5x4x8x8xf32>, tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<i32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %17 = stablehlo.compare LT, %iterArg_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %17 = "stablehlo.case"(%iterArg_6) ({
        %20 = stablehlo.sine %iterArg_5 : tensor<2x2x16xf32>
        stablehlo.return %20 : tensor<2x2x16xf32>
      }, {
        %20 = stablehlo.sine %iterArg_5 : tensor<2x2x16xf32>
        stablehlo.return %20 : tensor<2x2x16xf32>
      }) : (tensor<i32>) -> tensor<2x2x16xf32>
      %18 = stablehlo.tanh %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"z"}, {}, {"w", ?}]>]>} : tensor<5x4x8x8xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg_6, %c_7 : tensor<i32>
      stablehlo.return %18, %17, %17, %19 : tensor<5x4x8x8xf32>, tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<i32>
    }
    %9 = "stablehlo.sort"(%8#1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %17 = stablehlo.compare LT, %arg4, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {}]>]>} : (tensor<2x2x16xf32>) -> tensor<2x2x16xf32>
    %10 = stablehlo.iota dim = 0 : tensor<2x16x16xf32>
    %11 = stablehlo.cholesky %10, lower = true : tensor<2x16x16xf32>
    %12 = stablehlo.iota dim = 0 : tensor<2x16x4xf32>
    %13 = "stablehlo.triangular_solve"(%10, %12) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"z", ?}, {?}]>]>} : (tensor<2x16x16xf32>, tensor<2x16x4xf32>) -> tensor<2x16x4xf32>
    %14 = stablehlo.negate %9 : tensor<2x2x16xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %15:4 = stablehlo.while(%iterArg = %14, %iterArg_4 = %13, %iterArg_5 = %11, %iterArg_6 = %c_2) : tensor<2x2x16xf32>, tensor<2x16x4xf32>, tensor<2x16x16xf32>, tensor<i32>
    cond {
      %c_7 = stablehlo.constant dense<3> : tensor<i32>
      %17 = stablehlo.compare LT, %iterArg_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %17 = stablehlo.tanh %iterArg : tensor<2x2x16xf32>
      %18 = stablehlo.tanh %iterArg_4 : tensor<2x16x4xf32>
      %19 = stablehlo.tanh %iterArg_5 : tensor<2x16x16xf32>
      %c_7 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
      %20 = stablehlo.add %iterArg_6, %c_7 : tensor<i32>
      stablehlo.return %17, %18, %19, %20 : tensor<2x2x16xf32>, tensor<2x16x4xf32>, tensor<2x16x16xf32>, tensor<i32>
    }
    %cst_3 = stablehlo.constant dense<1.500000e+00> : tensor<1x4xf32>
    %16 = stablehlo.dynamic_update_slice %2, %cst_3, %8#3, %7#2 : (tensor<8x8xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
    return %15#3, %16 : tensor<i32>, tensor<8x8xf32>
  }
}
