module @fuzz {
  sdy.mesh @mesh = <["data"=3, "x"=4]>
  func.func public @main(%arg0: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}, {"data"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<4x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}, {"x":(1)2, ?}]>}, %arg4: tensor<f32>, %arg5: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>}) -> (tensor<4x8xf32>, tensor<4x16x8xf32>, tensor<8x4x3xf32>) {
    %0 = stablehlo.reshape %arg5 : (tensor<8x8xf32>) -> tensor<64xf32>
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = stablehlo.reshape %arg1 : (tensor<8x8xf32>) -> tensor<64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:3 = stablehlo.while(%iterArg = %arg2, %iterArg_3 = %arg1, %iterArg_4 = %c) : tensor<8xf32>, tensor<8x8xf32>, tensor<i32>
    cond {
      %c_5 = stablehlo.constant dense<3> : tensor<i32>
      %25 = stablehlo.compare LT, %iterArg_4, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %25 : tensor<i1>
    } do {
      %25 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %26 = stablehlo.add %iterArg_3, %25 : tensor<8x8xf32>
      %27 = stablehlo.reverse %25, dims = [1] : tensor<8x8xf32>
      %28 = stablehlo.tanh %iterArg : tensor<8xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %29 = stablehlo.add %iterArg_4, %c_5 : tensor<i32>
      stablehlo.return %28, %27, %29 : tensor<8xf32>, tensor<8x8xf32>, tensor<i32>
    }
    %4 = stablehlo.cholesky %arg5, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x"}], replicated={"data"}>]>} : tensor<8x8xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<8x4xf32>
    %5 = "stablehlo.triangular_solve"(%arg5, %cst) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    sdy.sharding_group %2 group_id=0 : tensor<64xf32>
    sdy.sharding_group %0 group_id=0 : tensor<64xf32>
    %6 = stablehlo.dot_general %2, %3#1, contracting_dims = [] x [] : (tensor<64xf32>, tensor<8x8xf32>) -> tensor<64x8x8xf32>
    %7 = stablehlo.dynamic_slice %2, %3#2, sizes = [32] : (tensor<64xf32>, tensor<i32>) -> tensor<32xf32>
    %8 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<64xf32>) -> tensor<64xf32>
    %9 = stablehlo.subtract %8, %0 : tensor<64xf32>
    %10 = stablehlo.subtract %9, %2 : tensor<64xf32>
    %11 = stablehlo.subtract %arg3, %arg3 : tensor<4x16x8xf32>
    %12 = stablehlo.subtract %arg3, %11 : tensor<4x16x8xf32>
    %13 = stablehlo.sine %5 : tensor<8x4xf32>
    %14 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<8x4xf32>) -> tensor<8x4x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.pad %arg5, %cst_0, low = [1, 0], high = [-1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {?}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    sdy.sharding_group %10 group_id=1 : tensor<64xf32>
    sdy.sharding_group %2 group_id=1 : tensor<64xf32>
    sdy.sharding_group %9 group_id=1 : tensor<64xf32>
    %16 = stablehlo.sine %9 : tensor<64xf32>
    %17 = stablehlo.multiply %15, %arg1 : tensor<8x8xf32>
    %18 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<8xf32>) -> tensor<8xf32>
    %19 = stablehlo.clamp %3#0, %3#0, %18 : tensor<8xf32>
    %20 = stablehlo.transpose %arg5, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<8x8xf32>
    %21 = stablehlo.multiply %3#1, %cst_1 : tensor<8x8xf32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %22 = stablehlo.dynamic_slice %3#1, %3#2, %c_2, sizes = [4, 8] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %23 = stablehlo.iota dim = 1 : tensor<4x16x8xf32>
    %24 = stablehlo.subtract %23, %11 : tensor<4x16x8xf32>
    return %22, %24, %14 : tensor<4x8xf32>, tensor<4x16x8xf32>, tensor<8x4x3xf32>
  }
}
