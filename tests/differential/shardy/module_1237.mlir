module @fuzz {
  sdy.mesh @mesh = <["y"=1, "model"=8, "x"=2]>
  func.func public @main(%arg0: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg1: tensor<4x4xf32>, %arg2: tensor<32x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}], replicated={"model":(2)4}>}) -> (tensor<32x1xf32>, tensor<32x1xf32>, tensor<32x1xf32>, tensor<4x4xf32>) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.select %c, %arg1, %arg1 : tensor<i1>, tensor<4x4xf32>
    %c_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %arg2, %iterArg_1 = %arg2, %iterArg_2 = %c_0) : tensor<32x1xf32>, tensor<32x1xf32>, tensor<i32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %10 = stablehlo.compare LT, %iterArg_2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %10 = stablehlo.add %iterArg, %iterArg_1 : tensor<32x1xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_2, %c_3 : tensor<i32>
      stablehlo.return %10, %10, %11 : tensor<32x1xf32>, tensor<32x1xf32>, tensor<i32>
    }
    %2 = stablehlo.transpose %arg2, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x1xf32>
    %3 = stablehlo.complex %2, %1#0 : tensor<32x1xcomplex<f32>>
    %4 = stablehlo.fft %3, type = FFT, length = [1] : (tensor<32x1xcomplex<f32>>) -> tensor<32x1xcomplex<f32>>
    %5 = stablehlo.real %4 : (tensor<32x1xcomplex<f32>>) -> tensor<32x1xf32>
    %6 = stablehlo.custom_call @foo(%2, %2) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=32, j=1} permutation={j}, custom>} : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<32x1xf32>
    %8 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %9 = stablehlo.add %5, %8 : tensor<32x1xf32>
    return %8, %9, %7, %0 : tensor<32x1xf32>, tensor<32x1xf32>, tensor<32x1xf32>, tensor<4x4xf32>
  }
}
