module @fuzz {
  sdy.mesh @mesh = <["w"=2]>
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<8xf32>, %arg2: tensor<16x4x16xf32>, %arg3: tensor<16x16xf32>) -> (tensor<16x1x1xf32>, tensor<8x4x16xf32>) {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x4x16xf32>
    %1 = stablehlo.add %arg2, %0 : tensor<16x4x16xf32>
    %2 = stablehlo.subtract %1, %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {?}]>]>} : tensor<16x4x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = "stablehlo.reduce_window"(%2, %cst_0) <{padding = dense<[[1, 1], [0, 0], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 3, 1, 1>, window_strides = array<i64: 2, 1, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %11 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %11 : tensor<f32>
    }) : (tensor<16x4x16xf32>, tensor<f32>) -> tensor<8x4x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.pad %1, %cst_1, low = [0, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}, {"w"}]>]>} : (tensor<16x4x16xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %5 = "stablehlo.case"(%c) ({
      %11 = stablehlo.complex %arg2, %arg2 : tensor<16x4x16xcomplex<f32>>
      %12 = stablehlo.fft %11, type = FFT, length = [16] : (tensor<16x4x16xcomplex<f32>>) -> tensor<16x4x16xcomplex<f32>>
      %13 = stablehlo.real %12 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<16x4x16xcomplex<f32>>) -> tensor<16x4x16xf32>
      stablehlo.return %13 : tensor<16x4x16xf32>
    }, {
      %11 = stablehlo.sine %arg2 : tensor<16x4x16xf32>
      stablehlo.return %11 : tensor<16x4x16xf32>
    }) : (tensor<i32>) -> tensor<16x4x16xf32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.dynamic_slice %4, %c_2, %c_3, %c_4, sizes = [16, 1, 1] : (tensor<16x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<16x1x1xf32>
    %7 = stablehlo.add %2, %5 : tensor<16x4x16xf32>
    %8:2 = stablehlo.optimization_barrier %7, %6 : tensor<16x4x16xf32>, tensor<16x1x1xf32>
    %c_5 = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.select %c_5, %8#1, %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w"}, {}, {}]>]>} : tensor<i1>, tensor<16x1x1xf32>
    %10 = stablehlo.multiply %3, %3 : tensor<8x4x16xf32>
    return %9, %10 : tensor<16x1x1xf32>, tensor<8x4x16xf32>
  }
}
