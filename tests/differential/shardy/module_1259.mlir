module @fuzz {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<16x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>}, %arg2: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg3: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<2xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p0]>}, %arg5: tensor<8x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p2, {}, {?}]>}) -> (tensor<2xf32>, tensor<8x2x2xf32>) {
    %0 = stablehlo.transpose %arg5, dims = [1, 2, 0] : (tensor<8x2x2xf32>) -> tensor<2x2x8xf32>
    %1 = stablehlo.maximum %arg4, %arg4 : tensor<2xbf16>
    %2 = stablehlo.subtract %arg1, %arg1 : tensor<16x16xbf16>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<8x2x2xf32>
    %3 = stablehlo.subtract %arg5, %cst : tensor<8x2x2xf32>
    %4 = sdy.manual_computation(%0, %0) in_shardings=[<@mesh, [{?}, {}, {}], replicated={"x"}>, <@mesh, [{}, {}, {?}], replicated={"x"}>] out_shardings=[<@mesh, [{}, {"x"}, {?}, {}]>] manual_axes={"x"} (%arg6: tensor<2x2x8xf32>, %arg7: tensor<2x2x8xf32>) {
      %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<2x32x8x8xf32>
      %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<2x32x8x4xf32>
      %15 = "stablehlo.triangular_solve"(%cst_0, %cst_1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x32x8x8xf32>, tensor<2x32x8x4xf32>) -> tensor<2x32x8x4xf32>
      sdy.return %15 : tensor<2x32x8x4xf32>
    } : (tensor<2x2x8xf32>, tensor<2x2x8xf32>) -> tensor<2x64x8x4xf32>
    %5 = stablehlo.dot_general %arg4, %1, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
    %6 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<16x16xbf16>) -> tensor<16x16x8xbf16>
    %7 = call @f0(%6) : (tensor<16x16x8xbf16>) -> tensor<16x16xbf16>
    %8 = sdy.sharding_constraint %6 <@mesh, [{}, {}, {"x"}]> : tensor<16x16x8xbf16>
    %9 = call @f1(%7) : (tensor<16x16xbf16>) -> tensor<16x16xbf16>
    %10 = call @f1(%9) : (tensor<16x16xbf16>) -> tensor<16x16xbf16>
    %11 = stablehlo.concatenate %3, %3, dim = 1 : (tensor<8x2x2xf32>, tensor<8x2x2xf32>) -> tensor<8x4x2xf32>
    %12 = stablehlo.reverse %11, dims = [2] : tensor<8x4x2xf32>
    %13 = stablehlo.convert %5 : (tensor<2xbf16>) -> tensor<2xf32>
    %14 = stablehlo.slice %12 [0:8, 1:3, 0:2] : (tensor<8x4x2xf32>) -> tensor<8x2x2xf32>
    return %13, %14 : tensor<2xf32>, tensor<8x2x2xf32>
  }
  func.func private @f0(%arg0: tensor<16x16x8xbf16>) -> tensor<16x16xbf16> {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg0 : tensor<16x16x8xbf16>, tensor<16x16x8xbf16>
    %1 = stablehlo.dot_general %0#0, %0#1, contracting_dims = [2, 1] x [2, 0] : (tensor<16x16x8xbf16>, tensor<16x16x8xbf16>) -> tensor<16x16xbf16>
    return %1 : tensor<16x16xbf16>
  }
  func.func private @f1(%arg0: tensor<16x16xbf16>) -> tensor<16x16xbf16> {
    %0 = stablehlo.custom_call @foo(%arg0, %arg0) : (tensor<16x16xbf16>, tensor<16x16xbf16>) -> tensor<16x16xbf16>
    return %0 : tensor<16x16xbf16>
  }
}
