module @fuzz {
  sdy.mesh @mesh = <["y"=1, "model"=2]>
  func.func public @main(%arg0: tensor<3x8xf32>, %arg1: tensor<3x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {"model", ?}]>}) -> (tensor<2x4x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}], unreduced={"y", "model"}>}, tensor<f32>, tensor<1x8x3x4xf32>, tensor<3x8xf32>) {
    %0 = stablehlo.reshape %arg1 : (tensor<3x8x2xf32>) -> tensor<24x2xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<24x2xf32>
    %2 = stablehlo.negate %0 : tensor<24x2xf32>
    %3 = stablehlo.complex %2, %1 : tensor<24x2xcomplex<f32>>
    %4 = stablehlo.fft %3, type = FFT, length = [2] : (tensor<24x2xcomplex<f32>>) -> tensor<24x2xcomplex<f32>>
    %5 = stablehlo.real %4 : (tensor<24x2xcomplex<f32>>) -> tensor<24x2xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<3x8xf32>
    %6 = stablehlo.complex %arg0, %cst : tensor<3x8xcomplex<f32>>
    %7 = stablehlo.fft %6, type = FFT, length = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
    %8 = stablehlo.real %7 : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<3x8xf32>
    %9 = stablehlo.multiply %cst_0, %8 : tensor<3x8xf32>
    %10 = sdy.sharding_constraint %5 <@mesh, [{}, {"model", "y"}]> : tensor<24x2xf32>
    %11 = stablehlo.add %10, %1 : tensor<24x2xf32>
    %c = stablehlo.constant dense<1> : tensor<8x4x1xi32>
    %12 = "stablehlo.gather"(%8, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1>}> : (tensor<3x8xf32>, tensor<8x4x1xi32>) -> tensor<8x4x3xf32>
    %13 = "stablehlo.sort"(%8) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %26 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %26 : tensor<i1>
    }) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %14 = stablehlo.transpose %13, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %15 = sdy.manual_computation(%13, %11) in_shardings=[<@mesh, [{}, {"model"}], replicated={"y"}>, <@mesh, [{"model", ?}, {?}], replicated={"y"}>] out_shardings=[<@mesh, [{"model", ?}], replicated={"y"}>] manual_axes={"y", "model"} (%arg2: tensor<3x4xf32>, %arg3: tensor<12x2xf32>) {
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %26 = stablehlo.reduce(%arg3 init: %cst_5) applies stablehlo.maximum across dimensions = [1] : (tensor<12x2xf32>, tensor<f32>) -> tensor<12xf32>
      sdy.return %26 : tensor<12xf32>
    } : (tensor<3x8xf32>, tensor<24x2xf32>) -> tensor<24xf32>
    %16 = stablehlo.rsqrt %13 : tensor<3x8xf32>
    %17 = call @f0(%14) : (tensor<3x8xf32>) -> tensor<24xf32>
    %18 = stablehlo.dot_general %16, %12, batching_dims = [1, 0] x [0, 2], contracting_dims = [] x [] : (tensor<3x8xf32>, tensor<8x4x3xf32>) -> tensor<8x3x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = "stablehlo.reduce_window"(%19, %cst_2) <{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %26 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %26 : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
    %21 = stablehlo.broadcast_in_dim %18, dims = [1, 2, 3] : (tensor<8x3x4xf32>) -> tensor<1x8x3x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%20 init: %cst_3) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<1.500000e+00> : tensor<2x2xf32>
    %23 = stablehlo.cholesky %cst_4, lower = true : tensor<2x2xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 3] : (tensor<2x2xf32>) -> tensor<2x4x4x2xf32>
    %25 = call @f1(%22) : (tensor<f32>) -> tensor<f32>
    return %24, %25, %21, %13 : tensor<2x4x4x2xf32>, tensor<f32>, tensor<1x8x3x4xf32>, tensor<3x8xf32>
  }
  func.func private @f0(%arg0: tensor<3x8xf32>) -> tensor<24xf32> {
    %0 = stablehlo.maximum %arg0, %arg0 : tensor<3x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x8xf32>) -> tensor<24xf32>
    return %1 : tensor<24xf32>
  }
  func.func private @f1(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.custom_call @foo(%arg0, %arg0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
