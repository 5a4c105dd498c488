module @fuzz {
  sdy.mesh @mesh = <["data"=2, "z"=3]>
  func.func public @main(%arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<1x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"data", ?}]>}, %arg2: tensor<bf16> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg3: tensor<16x1xbf16>, %arg4: tensor<16x1x16xi32>) -> (tensor<16x16xf32>, tensor<4x4x4xf32>, tensor<16x1xbf16>, tensor<16x18xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {}]>}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg3, %c, %c_0, sizes = [16, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {"z"}]>]>} : (tensor<16x1xbf16>, tensor<i32>, tensor<i32>) -> tensor<16x1xbf16>
    %1 = call @f0(%arg3) : (tensor<16x1xbf16>) -> tensor<2x8x8x4xbf16>
    %c_1 = stablehlo.constant dense<1> : tensor<8x1xi32>
    %2 = stablehlo.iota dim = 0 : tensor<8x16xf32>
    %3 = "stablehlo.scatter"(%arg0, %c_1, %2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %24 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %24 : tensor<f32>
    }) : (tensor<16x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<16x16xf32>
    %4 = stablehlo.complex %3, %cst : tensor<16x16xcomplex<f32>>
    %5 = stablehlo.fft %4, type = FFT, length = [16] : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xcomplex<f32>>
    %6 = stablehlo.real %5 : (tensor<16x16xcomplex<f32>>) -> tensor<16x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<16x1xbf16>
    %7 = stablehlo.subtract %0, %cst_2 : tensor<16x1xbf16>
    %8 = stablehlo.custom_call @foo(%7, %7) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=16, j=1}, custom>} : (tensor<16x1xbf16>, tensor<16x1xbf16>) -> tensor<16x1xbf16>
    %9 = sdy.manual_computation(%6) in_shardings=[<@mesh, [{?}, {?}], replicated={"data"}>] out_shardings=[<@mesh, [{?}, {"data", ?}]>] manual_axes={"data"} (%arg5: tensor<16x16xf32>) {
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %24 = "stablehlo.case"(%c_8) ({
        %26 = stablehlo.sine %arg5 : tensor<16x16xf32>
        stablehlo.return %26 : tensor<16x16xf32>
      }, {
        %26 = stablehlo.sine %arg5 : tensor<16x16xf32>
        stablehlo.return %26 : tensor<16x16xf32>
      }) : (tensor<i32>) -> tensor<16x16xf32>
      %c_9 = stablehlo.constant dense<1> : tensor<16x16xi32>
      %25:2 = "stablehlo.sort"(%24, %c_9) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<i32>, %arg9: tensor<i32>):
        %26 = stablehlo.compare LT, %arg6, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %26 : tensor<i1>
      }) : (tensor<16x16xf32>, tensor<16x16xi32>) -> (tensor<16x16xf32>, tensor<16x16xi32>)
      sdy.return %25#0 : tensor<16x16xf32>
    } : (tensor<16x16xf32>) -> tensor<16x32xf32>
    %10 = stablehlo.cholesky %6, lower = true : tensor<16x16xf32>
    %11 = stablehlo.iota dim = 0 : tensor<16x4xf32>
    %12 = "stablehlo.triangular_solve"(%6, %11) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<16x16xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %cst_3 = stablehlo.constant dense<1.500000e+00> : tensor<16x2xf32>
    %13 = stablehlo.concatenate %3, %cst_3, dim = 1 : (tensor<16x16xf32>, tensor<16x2xf32>) -> tensor<16x18xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<16x1xbf16>
    %14 = stablehlo.subtract %cst_4, %7 : tensor<16x1xbf16>
    %15 = call @f1(%12) : (tensor<16x4xf32>) -> tensor<8x4xf32>
    %16 = stablehlo.maximum %7, %8 : tensor<16x1xbf16>
    %cst_5 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {?}]>]>} dense<1.000000e+00> : tensor<16x1xbf16>
    %17 = stablehlo.compare GT, %16, %cst_5 : (tensor<16x1xbf16>, tensor<16x1xbf16>) -> tensor<16x1xi1>
    %18 = stablehlo.select %17, %16, %cst_5 : tensor<16x1xi1>, tensor<16x1xbf16>
    %c_6 = stablehlo.constant dense<1> : tensor<i32>
    %c_7 = stablehlo.constant dense<1> : tensor<i32>
    %19 = stablehlo.dynamic_update_slice %16, %14, %c_6, %c_7 : (tensor<16x1xbf16>, tensor<16x1xbf16>, tensor<i32>, tensor<i32>) -> tensor<16x1xbf16>
    %20 = sdy.manual_computation(%15, %15) in_shardings=[<@mesh, [{?}, {"data", ?}], replicated={"z"}>, <@mesh, [{"data", ?}, {?}], replicated={"z"}>] out_shardings=[<@mesh, [{"z", ?}, {"data", ?}]>] manual_axes={"data", "z"} (%arg5: tensor<8x2xf32>, %arg6: tensor<4x4xf32>) {
      %24 = stablehlo.maximum %arg6, %arg6 : tensor<4x4xf32>
      sdy.return %24 : tensor<4x4xf32>
    } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<12x8xf32>
    sdy.sharding_group %19 group_id=0 : tensor<16x1xbf16>
    sdy.sharding_group %7 group_id=0 : tensor<16x1xbf16>
    %21 = sdy.sharding_constraint %18 <@mesh, [{"data"}, {}]> : tensor<16x1xbf16>
    %22 = call @f2(%10) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %23 = stablehlo.reshape %12 : (tensor<16x4xf32>) -> tensor<4x4x4xf32>
    return %22, %23, %arg3, %13 : tensor<16x16xf32>, tensor<4x4x4xf32>, tensor<16x1xbf16>, tensor<16x18xf32>
  }
  func.func private @f0(%arg0: tensor<16x1xbf16>) -> tensor<2x8x8x4xbf16> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x8x8x8xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<1x3x8x4xbf16>
    %0 = stablehlo.convolution(%cst, %cst_0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xbf16>, tensor<1x3x8x4xbf16>) -> tensor<2x8x8x4xbf16>
    return %0 : tensor<2x8x8x4xbf16>
  }
  func.func private @f1(%arg0: tensor<16x4xf32>) -> tensor<8x4xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %c, %c_0, sizes = [8, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  func.func private @f2(%arg0: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = "stablehlo.case"(%c) ({
      %2 = stablehlo.transpose %arg0, dims = [0, 1] : (tensor<16x16xf32>) -> tensor<16x16xf32>
      stablehlo.return %2 : tensor<16x16xf32>
    }, {
      %2 = stablehlo.sine %arg0 : tensor<16x16xf32>
      stablehlo.return %2 : tensor<16x16xf32>
    }) : (tensor<i32>) -> tensor<16x16xf32>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<16x16xf32>
    %1 = stablehlo.select %c_0, %0, %cst : tensor<i1>, tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
}
