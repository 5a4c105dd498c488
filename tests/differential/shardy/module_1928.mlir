module @fuzz {
  sdy.mesh @mesh = <["data"=4, "x"=8, "z"=2]>
  func.func public @main(%arg0: tensor<2x2x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}, {}, {"x"}]>}, %arg1: tensor<bf16> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> (tensor<1x2x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"z", "data"}]>}, tensor<2x12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}], replicated={"x":(1)4}>}, tensor<2x2x2x8xf32>) {
    %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], replicated={"x"}>]>} dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %c) : tensor<bf16>, tensor<2x2x2x8xf32>, tensor<i32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %9 = stablehlo.compare LT, %iterArg_2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = stablehlo.tanh %iterArg : tensor<bf16>
      %10 = stablehlo.tanh %iterArg_1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}, {}, {"data", "z"}p2]>]>} : tensor<2x2x2x8xf32>
      %c_3 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_2, %c_3 : tensor<i32>
      stablehlo.return %9, %10, %11 : tensor<bf16>, tensor<2x2x2x8xf32>, tensor<i32>
    }
    %1 = stablehlo.abs %0#0 : tensor<bf16>
    %2 = call @f0(%1) : (tensor<bf16>) -> tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<bf16>) -> tensor<2x12xbf16>
    %4 = stablehlo.complex %0#1, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}, {}, {"data", "z"}]>]>} : tensor<2x2x2x8xcomplex<f32>>
    %5 = stablehlo.fft %4, type = FFT, length = [8] : (tensor<2x2x2x8xcomplex<f32>>) -> tensor<2x2x2x8xcomplex<f32>>
    %6 = stablehlo.real %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"z"}, {?}, {}]>]>} : (tensor<2x2x2x8xcomplex<f32>>) -> tensor<2x2x2x8xf32>
    %7 = stablehlo.slice %arg0 [0:1, 0:2, 0:2, 0:8] : (tensor<2x2x2x8xf32>) -> tensor<1x2x2x8xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %8 = "stablehlo.case"(%c_0) ({
      %9 = stablehlo.sine %3 : tensor<2x12xbf16>
      stablehlo.return %9 : tensor<2x12xbf16>
    }, {
      %9 = stablehlo.sine %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}, {"data"}p0]>]>} : tensor<2x12xbf16>
      stablehlo.return %9 : tensor<2x12xbf16>
    }) : (tensor<i32>) -> tensor<2x12xbf16>
    return %7, %8, %6 : tensor<1x2x2x8xf32>, tensor<2x12xbf16>, tensor<2x2x2x8xf32>
  }
  func.func private @f0(%arg0: tensor<bf16>) -> tensor<bf16> {
    %0 = stablehlo.cosine %arg0 : tensor<bf16>
    return %0 : tensor<bf16>
  }
}
