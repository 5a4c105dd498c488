module @fuzz {
  sdy.mesh @mesh = <["w"=8, "y"=1, "z"=2]>
  func.func public @main(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w", ?}p0]>}, %arg1: tensor<32x32xf32>, %arg2: tensor<32x1x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}, {"w"}]>}, %arg3: tensor<32x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "z", ?}, {"w", ?}p2]>}) -> (tensor<32x32xf32>, tensor<4x32xf32>, tensor<32xf32>, tensor<32x1x1x16xf32>) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<32xf32>
    %1 = stablehlo.dot_general %0, %arg2, batching_dims = [0] x [0], contracting_dims = [] x [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", "w":(1)2, ?}, {?}, {?}, {"w":(2)4, ?}]>]>} : (tensor<32xf32>, tensor<32x1x1x16xf32>) -> tensor<32x1x1x16xf32>
    %2 = stablehlo.iota dim = 0 : tensor<32x32xf32>
    %3 = stablehlo.complex %arg1, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w"}, {"y", "z", ?}]>]>} : tensor<32x32xcomplex<f32>>
    %4 = stablehlo.fft %3, type = FFT, length = [32] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}p2, {?}]>]>} : (tensor<32x32xcomplex<f32>>) -> tensor<32x32xcomplex<f32>>
    %5 = stablehlo.real %4 : (tensor<32x32xcomplex<f32>>) -> tensor<32x32xf32>
    %6 = stablehlo.dot_general %arg0, %5, batching_dims = [0] x [0], contracting_dims = [] x [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w", "y"}, {"z", ?}p2]>]>} : (tensor<32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w":(1)4, ?}, {?}], replicated={"y"}>]>} dense<1.500000e+00> : tensor<32x2xf32>
    %7 = stablehlo.concatenate %5, %cst, dim = 1 : (tensor<32x32xf32>, tensor<32x2xf32>) -> tensor<32x34xf32>
    %8 = stablehlo.exponential %7 : tensor<32x34xf32>
    %9 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<32xf32>) -> tensor<32x32xf32>
    %10 = stablehlo.complex %6, %9 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"z", ?}p1]>]>} : tensor<32x32xcomplex<f32>>
    %11 = stablehlo.fft %10, type = FFT, length = [32] : (tensor<32x32xcomplex<f32>>) -> tensor<32x32xcomplex<f32>>
    %12 = stablehlo.real %11 : (tensor<32x32xcomplex<f32>>) -> tensor<32x32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", "w", ?}]>]>} : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %15 = sdy.sharding_constraint %8 <@mesh, [{"z", ?}, {"y", ?}]> : tensor<32x34xf32>
    %16 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}, {"y"}], replicated={"w":(2)2}>]>} : tensor<4x1xi32>
    %17 = "stablehlo.gather"(%12, %16) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<32x32xf32>, tensor<4x1xi32>) -> tensor<4x32xf32>
    %18 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
    %19 = stablehlo.add %18, %arg1 : tensor<32x32xf32>
    %20 = sdy.sharding_constraint %19 <@mesh, [{}, {"y"}p1], replicated={"w"}> : tensor<32x32xf32>
    %21 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %22 = stablehlo.add %20, %21 : tensor<32x32xf32>
    %23 = stablehlo.custom_call @foo(%17, %17) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=32} permutation={j}, custom>} : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
    return %22, %23, %arg0, %1 : tensor<32x32xf32>, tensor<4x32xf32>, tensor<32xf32>, tensor<32x1x1x16xf32>
  }
}
