module @fuzz {
  sdy.mesh @mesh = <["model"=2, "data"=3, "y"=4]>
  func.func public @main(%arg0: tensor<12x12x8xf32>, %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", "y":(1)2, "data"}]>}, %arg2: tensor<3x12x8x2xf32>, %arg3: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}, {"y":(1)2}]>}, %arg4: tensor<12x12x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "data", ?}, {?}, {?}], replicated={"model"}>}) -> (tensor<12x12x8xf32>, tensor<2xf32>) {
    %0 = stablehlo.slice %arg3 [0:8, 0:2:2, 1:2:2] : (tensor<8x2x2xf32>) -> tensor<8x1x1xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<8x2x2xf32>
    %1 = stablehlo.compare GT, %arg3, %cst : (tensor<8x2x2xf32>, tensor<8x2x2xf32>) -> tensor<8x2x2xi1>
    %2 = stablehlo.select %1, %arg3, %cst {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {"model", ?}, {?}]>]>} : tensor<8x2x2xi1>, tensor<8x2x2xf32>
    %3 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{?}, {?}, {?}], replicated={"data"}>] out_shardings=[<@mesh, [{?}, {?}, {?}, {?}], replicated={"data"}>] manual_axes={"data"} (%arg5: tensor<8x1x1xf32>) {
      %c_3 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0> : tensor<i32>
      %20:2 = stablehlo.while(%iterArg = %arg5, %iterArg_4 = %c_3) : tensor<8x1x1xf32>, tensor<i32>
      cond {
        %c_5 = stablehlo.constant dense<3> : tensor<i32>
        %23 = stablehlo.compare LT, %iterArg_4, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %23 : tensor<i1>
      } do {
        %23 = stablehlo.tanh %iterArg : tensor<8x1x1xf32>
        %c_5 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
        %24 = stablehlo.add %iterArg_4, %c_5 : tensor<i32>
        stablehlo.return %23, %24 : tensor<8x1x1xf32>, tensor<i32>
      }
      %21 = stablehlo.reshape %20#0 : (tensor<8x1x1xf32>) -> tensor<4x2x1x1xf32>
      %22 = stablehlo.convert %21 : (tensor<4x2x1x1xf32>) -> tensor<4x2x1x1xbf16>
      sdy.return %22 : tensor<4x2x1x1xbf16>
    } : (tensor<8x1x1xf32>) -> tensor<4x2x1x1xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:3 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %arg0, %iterArg_4 = %c) : tensor<12x12x8xf32>, tensor<12x12x8xf32>, tensor<i32>
    cond {
      %c_5 = stablehlo.constant dense<3> : tensor<i32>
      %20 = stablehlo.compare LT, %iterArg_4, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %20 = stablehlo.tanh %iterArg : tensor<12x12x8xf32>
      %21 = stablehlo.tanh %iterArg_3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"model"}, {?}]>]>} : tensor<12x12x8xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %22 = stablehlo.add %iterArg_4, %c_5 : tensor<i32>
      stablehlo.return %20, %21, %22 : tensor<12x12x8xf32>, tensor<12x12x8xf32>, tensor<i32>
    }
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<12x8x8xf32>
    %5 = stablehlo.cholesky %cst_0, lower = true : tensor<12x8x8xf32>
    %6 = stablehlo.custom_call @foo(%4#0, %4#0) : (tensor<12x12x8xf32>, tensor<12x12x8xf32>) -> tensor<12x12x8xf32>
    %7 = stablehlo.cholesky %5, lower = true : tensor<12x8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.pad %2, %cst_1, low = [0, 0, 0], high = [0, 0, 0], interior = [1, 0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data", ?}, {"model"}, {?}]>]>} : (tensor<8x2x2xf32>, tensor<f32>) -> tensor<15x2x2xf32>
    %9 = stablehlo.reverse %8, dims = [2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>]>} : tensor<15x2x2xf32>
    %10 = stablehlo.dot_general %7, %5, batching_dims = [1, 0] x [1, 0], contracting_dims = [] x [] : (tensor<12x8x8xf32>, tensor<12x8x8xf32>) -> tensor<8x12x8x8xf32>
    %11 = stablehlo.negate %6 : tensor<12x12x8xf32>
    %12 = stablehlo.reshape %9 : (tensor<15x2x2xf32>) -> tensor<30x1x2xf32>
    %13 = stablehlo.iota dim = 1 : tensor<30x1x2xf32>
    %14 = stablehlo.complex %12, %13 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data", ?}, {}, {?}]>]>} : tensor<30x1x2xcomplex<f32>>
    %15 = stablehlo.fft %14, type = FFT, length = [2] : (tensor<30x1x2xcomplex<f32>>) -> tensor<30x1x2xcomplex<f32>>
    %16 = stablehlo.real %15 : (tensor<30x1x2xcomplex<f32>>) -> tensor<30x1x2xf32>
    %17 = call @f0(%10) : (tensor<8x12x8x8xf32>) -> tensor<8x12x8x8xf32>
    %18 = stablehlo.custom_call @foo(%11, %11) : (tensor<12x12x8xf32>, tensor<12x12x8xf32>) -> tensor<12x12x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<30x1x2xf32>, tensor<f32>) -> tensor<2xf32>
    return %18, %19 : tensor<12x12x8xf32>, tensor<2xf32>
  }
  func.func private @f0(%arg0: tensor<8x12x8x8xf32>) -> tensor<8x12x8x8xf32> {
    %0 = stablehlo.cosine %arg0 : tensor<8x12x8x8xf32>
    return %0 : tensor<8x12x8x8xf32>
  }
}
