module @fuzz {
  sdy.mesh @mesh = <["x"=8, "model"=3]>
  func.func public @main(%arg0: tensor<12x12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"model"}p1, {}]>}, %arg1: tensor<12x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(4)2, ?}p1, {"x":(2)2, ?}p1], replicated={"model"}>}, %arg2: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", "x":(2)4}, {?}]>}) -> (tensor<6x2x12x16xf32>, tensor<12x12xf32>) {
    %0 = stablehlo.cholesky %arg2, lower = true : tensor<12x12xf32>
    %1 = stablehlo.iota dim = 1 : tensor<12x4xf32>
    %2 = "stablehlo.triangular_solve"(%arg2, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<12x12xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<12x4xf32>
    %3 = stablehlo.complex %2, %cst : tensor<12x4xcomplex<f32>>
    %4 = stablehlo.fft %3, type = FFT, length = [4] : (tensor<12x4xcomplex<f32>>) -> tensor<12x4xcomplex<f32>>
    %5 = stablehlo.real %4 : (tensor<12x4xcomplex<f32>>) -> tensor<12x4xf32>
    %6 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model", ?}p1, {?}, {?}]>]>} : (tensor<12x12xf32>) -> tensor<6x2x12xf32>
    %7 = stablehlo.reverse %5, dims = [1] : tensor<12x4xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<12x12x16xf32>
    %8 = stablehlo.subtract %arg0, %cst_0 : tensor<12x12x16xf32>
    %c = stablehlo.constant dense<1> : tensor<2x1xi32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<2x12xbf16>
    %9 = "stablehlo.scatter"(%arg1, %c, %cst_1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<bf16>, %arg4: tensor<bf16>):
      %14 = stablehlo.add %arg3, %arg4 : tensor<bf16>
      stablehlo.return %14 : tensor<bf16>
    }) : (tensor<12x16xbf16>, tensor<2x1xi32>, tensor<2x12xbf16>) -> tensor<12x16xbf16>
    %10 = call @f0(%9) : (tensor<12x16xbf16>) -> tensor<12x16xbf16>
    %11 = sdy.sharding_constraint %7 <@mesh, [{"model", ?}, {?}]> : tensor<12x4xf32>
    %12 = stablehlo.dot_general %6, %8, contracting_dims = [2] x [0] : (tensor<6x2x12xf32>, tensor<12x12x16xf32>) -> tensor<6x2x12x16xf32>
    %13 = stablehlo.dot_general %11, %2, contracting_dims = [1] x [1] : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x12xf32>
    return %12, %13 : tensor<6x2x12x16xf32>, tensor<12x12xf32>
  }
  func.func private @f0(%arg0: tensor<12x16xbf16>) -> tensor<12x16xbf16> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = "stablehlo.case"(%c) ({
      %1 = stablehlo.maximum %arg0, %arg0 : tensor<12x16xbf16>
      stablehlo.return %1 : tensor<12x16xbf16>
    }, {
      %1 = stablehlo.sine %arg0 : tensor<12x16xbf16>
      stablehlo.return %1 : tensor<12x16xbf16>
    }) : (tensor<i32>) -> tensor<12x16xbf16>
    return %0 : tensor<12x16xbf16>
  }
}
