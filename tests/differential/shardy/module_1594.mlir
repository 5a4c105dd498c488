module @fuzz {
  sdy.mesh @mesh = <["x"=4, "w"=8]>
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<2x2xf32>, %arg2: tensor<2x24x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}, {"w", ?}]>}, %arg3: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, [], replicated={"w":(2)4}>}) -> (tensor<3x8x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"w"}, {"x"}, {}]>}, tensor<3x16x8xf32>, tensor<3x8x8x2xf32>) {
    %0 = stablehlo.transpose %arg2, dims = [1, 2, 0] : (tensor<2x24x8xf32>) -> tensor<24x8x2xf32>
    %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], replicated={"w"}>]>} dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %0, %iterArg_1 = %arg1, %iterArg_2 = %c) : tensor<24x8x2xf32>, tensor<2x2xf32>, tensor<i32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}]>]>} dense<1.500000e+00> : tensor<2x2xf32>
      %14 = stablehlo.complex %iterArg_1, %cst : tensor<2x2xcomplex<f32>>
      %15 = stablehlo.fft %14, type = FFT, length = [2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}]>]>} : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
      %16 = stablehlo.real %15 : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
      %17 = stablehlo.tanh %iterArg : tensor<24x8x2xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_2, %c_3 : tensor<i32>
      stablehlo.return %17, %16, %18 : tensor<24x8x2xf32>, tensor<2x2xf32>, tensor<i32>
    }
    %2 = stablehlo.concatenate %1#1, %arg1, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %3 = stablehlo.reshape %0 : (tensor<24x8x2xf32>) -> tensor<3x8x8x2xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %4:4 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %1#1, %iterArg_2 = %1#1, %iterArg_3 = %c_0) : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<i32>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %14 = stablehlo.compare LT, %iterArg_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14 = stablehlo.tanh %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w":(2)2, ?}, {?}]>]>} : tensor<2x2xf32>
      %15 = stablehlo.tanh %iterArg_1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}]>]>} : tensor<2x2xf32>
      %16 = stablehlo.tanh %iterArg_2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}]>]>} : tensor<2x2xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.add %iterArg_3, %c_4 : tensor<i32>
      stablehlo.return %14, %15, %16, %17 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<i32>
    }
    %5 = stablehlo.broadcast_in_dim %arg3, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {}, {?}, {?}]>]>} : (tensor<f32>) -> tensor<3x8x8x2xf32>
    %6 = stablehlo.add %3, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"w", ?}, {?}, {?}], replicated={"x":(2)2}>]>} : tensor<3x8x8x2xf32>
    %7 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    sdy.sharding_group %5 group_id=0 : tensor<3x8x8x2xf32>
    sdy.sharding_group %3 group_id=0 : tensor<3x8x8x2xf32>
    sdy.sharding_group %6 group_id=0 : tensor<3x8x8x2xf32>
    %8 = stablehlo.tanh %4#0 : tensor<2x2xf32>
    %9 = sdy.manual_computation(%8) in_shardings=[<@mesh, [{?}, {?}], replicated={"x"}>] out_shardings=[<@mesh, [{}, {}], replicated={"x"}>] manual_axes={"x"} (%arg4: tensor<2x2xf32>) {
      %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
      %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %14 = stablehlo.clamp %cst, %arg4, %cst_1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<f32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
      %15 = stablehlo.transpose %14, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %16 = stablehlo.dot_general %15, %14, contracting_dims = [0] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      sdy.return %16 : tensor<2x2xf32>
    } : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %10 = sdy.sharding_constraint %7 <@mesh, [{"w", ?}, {?}]> : tensor<8x2xf32>
    %11 = sdy.sharding_constraint %2 <@mesh, [{}, {"x":(2)2}]> : tensor<4x2xf32>
    %12 = stablehlo.subtract %3, %5 : tensor<3x8x8x2xf32>
    %13 = sdy.manual_computation(%6) in_shardings=[<@mesh, [{?}, {"w", ?}, {?}, {?}]>] out_shardings=[<@mesh, [{?}, {"x", ?}, {"w", ?}]>] manual_axes={"w"} (%arg4: tensor<3x1x8x2xf32>) {
      %14 = stablehlo.reshape %arg4 : (tensor<3x1x8x2xf32>) -> tensor<3x1x16xf32>
      %15 = stablehlo.transpose %14, dims = [0, 2, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {?}]>]>} : (tensor<3x1x16xf32>) -> tensor<3x16x1xf32>
      sdy.return %15 : tensor<3x16x1xf32>
    } : (tensor<3x8x8x2xf32>) -> tensor<3x16x8xf32>
    return %12, %13, %6 : tensor<3x8x8x2xf32>, tensor<3x16x8xf32>, tensor<3x8x8x2xf32>
  }
}
