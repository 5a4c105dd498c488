module @fuzz {
  sdy.mesh @mesh = <["w"=8, "data"=2]>
  func.func public @main(%arg0: tensor<8x1x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"w":(2)4}]>}, %arg1: tensor<4x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"w":(4)2, ?}, {"data"}, {}]>}, %arg2: tensor<4x4xi32>, %arg3: tensor<4x1xi32>, %arg4: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {}]>}) -> (tensor<4x4x8x4xf32>, tensor<4x8x2x2x4xf32>, tensor<4x4x8x4xf32>, tensor<4x8x4x4xf32>) {
    %0 = sdy.sharding_constraint %arg1 <@mesh, [{}, {}, {}, {}], replicated={"w":(1)4}> : tensor<4x8x4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg4, %iterArg_0 = %0, %iterArg_1 = %arg0, %iterArg_2 = %c) : tensor<4x4xf32>, tensor<4x8x4x4xf32>, tensor<8x1x4xf32>, tensor<i32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %12 = stablehlo.compare LT, %iterArg_2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<true> : tensor<i1>
      %12 = stablehlo.iota dim = 3 : tensor<4x8x4x4xf32>
      %13 = stablehlo.select %c_3, %iterArg_0, %12 : tensor<i1>, tensor<4x8x4x4xf32>
      %14 = stablehlo.tanh %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : tensor<4x4xf32>
      %15 = stablehlo.tanh %iterArg_1 : tensor<8x1x4xf32>
      %c_4 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
      %16 = stablehlo.add %iterArg_2, %c_4 : tensor<i32>
      stablehlo.return %14, %13, %15, %16 : tensor<4x4xf32>, tensor<4x8x4x4xf32>, tensor<8x1x4xf32>, tensor<i32>
    }
    %2 = stablehlo.sine %1#1 : tensor<4x8x4x4xf32>
    %3 = call @f0(%2) : (tensor<4x8x4x4xf32>) -> tensor<4x8x4x4xf32>
    %4 = stablehlo.transpose %2, dims = [2, 3, 1, 0] : (tensor<4x8x4x4xf32>) -> tensor<4x4x8x4xf32>
    %5 = stablehlo.custom_call @foo(%1#1, %1#1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l], [i, j, k, l])->([i, j, k, l]) {i=4, j=8, k=4, l=4}, custom>} : (tensor<4x8x4x4xf32>, tensor<4x8x4x4xf32>) -> tensor<4x8x4x4xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x8x4xf32>
    %7 = stablehlo.add %4, %6 : tensor<4x4x8x4xf32>
    %8 = stablehlo.complex %6, %4 : tensor<4x4x8x4xcomplex<f32>>
    %9 = stablehlo.fft %8, type = FFT, length = [4] : (tensor<4x4x8x4xcomplex<f32>>) -> tensor<4x4x8x4xcomplex<f32>>
    %10 = stablehlo.real %9 : (tensor<4x4x8x4xcomplex<f32>>) -> tensor<4x4x8x4xf32>
    %11 = stablehlo.reshape %3 : (tensor<4x8x4x4xf32>) -> tensor<4x8x2x2x4xf32>
    return %10, %11, %7, %5 : tensor<4x4x8x4xf32>, tensor<4x8x2x2x4xf32>, tensor<4x4x8x4xf32>, tensor<4x8x4x4xf32>
  }
  func.func private @f0(%arg0: tensor<4x8x4x4xf32>) -> tensor<4x8x4x4xf32> {
    %0 = stablehlo.custom_call @foo(%arg0, %arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l], [i, j, k, l])->([i, j, k, l]) {i=4, j=8, k=4, l=4}, custom>} : (tensor<4x8x4x4xf32>, tensor<4x8x4x4xf32>) -> tensor<4x8x4x4xf32>
    %1 = stablehlo.custom_call @foo(%0, %0) : (tensor<4x8x4x4xf32>, tensor<4x8x4x4xf32>) -> tensor<4x8x4x4xf32>
    %2 = stablehlo.exponential %1 : tensor<4x8x4x4xf32>
    return %2 : tensor<4x8x4x4xf32>
  }
}
