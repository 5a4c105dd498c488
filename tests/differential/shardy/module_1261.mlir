module @fuzz {
  sdy.mesh @mesh = <["z"=3, "data"=2, "w"=3], device_ids=[4, 1, 9, 15, 13, 6, 16, 5, 2, 10, 7, 14, 0, 3, 17, 11, 12, 8]>
  func.func public @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"data"}>}, %arg1: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}p1]>}, %arg2: tensor<2x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}p0, {?}], unreduced={"z"}>}, %arg3: tensor<3x4x4x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w"}, {?}, {?}, {?}], unreduced={"z"}>}, %arg4: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %arg5: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}], replicated={"w"}>}) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"w", "data"}]>}, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x6xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<4x4xf32>
    %2 = stablehlo.transpose %arg5, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %3 = stablehlo.dot_general %1, %arg0, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:4 = stablehlo.while(%iterArg = %1, %iterArg_2 = %arg0, %iterArg_3 = %2, %iterArg_4 = %c) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<i32>
    cond {
      %c_5 = stablehlo.constant dense<3> : tensor<i32>
      %11 = stablehlo.compare LT, %iterArg_4, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %11 = stablehlo.maximum %iterArg, %iterArg : tensor<4x4xf32>
      %12 = stablehlo.iota dim = 0 : tensor<4x4xf32>
      %13 = stablehlo.complex %11, %12 : tensor<4x4xcomplex<f32>>
      %14 = stablehlo.fft %13, type = FFT, length = [4] : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
      %15 = stablehlo.real %14 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
      %16 = stablehlo.tanh %iterArg_3 : tensor<4x3xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.add %iterArg_4, %c_5 : tensor<i32>
      stablehlo.return %15, %15, %16, %17 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x3xf32>, tensor<i32>
    }
    %c_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {?}, {}]>]>} dense<1> : tensor<4x4x1xi32>
    %5 = "stablehlo.gather"(%4#1, %c_0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x4x1xi32>) -> tensor<4x4xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %7 = sdy.manual_computation(%4#0) in_shardings=[<@mesh, [{"data"}, {}], replicated={"z"}>] out_shardings=[<@mesh, [{?}], replicated={"z"}>] manual_axes={"z"} (%arg6: tensor<4x4xf32>) {
      %11 = stablehlo.cholesky %arg6, lower = true : tensor<4x4xf32>
      %12 = stablehlo.dot_general %11, %arg6, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
      sdy.return %12 : tensor<4xf32>
    } : (tensor<4x4xf32>) -> tensor<4xf32>
    sdy.sharding_group %5 group_id=0 : tensor<4x4xf32>
    sdy.sharding_group %3 group_id=0 : tensor<4x4xf32>
    sdy.sharding_group %arg0 group_id=0 : tensor<4x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.pad %4#2, %cst_1, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
    %9 = stablehlo.subtract %8, %8 : tensor<4x6xf32>
    %10 = stablehlo.exponential %4#2 : tensor<4x3xf32>
    return %9, %10, %6, %8 : tensor<4x6xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x6xf32>
  }
}
