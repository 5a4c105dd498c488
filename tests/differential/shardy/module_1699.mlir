module @fuzz {
  sdy.mesh @mesh = <["model"=2, "x"=2]>
  func.func public @main(%arg0: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}]>}, %arg2: tensor<2x2x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p0, {?}, {"model", ?}, {?}]>}, %arg3: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg4: tensor<f32>, %arg5: tensor<8x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}], replicated={"model"}>}) -> (tensor<16x2xf32>, tensor<8x18xf32>, tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}, tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"model", ?}]>}) {
    %0 = stablehlo.rsqrt %arg0 : tensor<16x2xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model", "x", ?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.multiply %1, %arg1 : tensor<8xf32>
    %c = stablehlo.constant dense<1> : tensor<8x1xi32>
    %3 = "stablehlo.scatter"(%2, %c, %2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %24 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %24 : tensor<f32>
    }) : (tensor<8xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8xf32>
    %4 = stablehlo.reshape %2 : (tensor<8xf32>) -> tensor<4x2xf32>
    %5 = "stablehlo.sort"(%4) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %24 = stablehlo.compare LT, %arg6, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %24 : tensor<i1>
    }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %6 = stablehlo.dot_general %3, %2, batching_dims = [0] x [0], contracting_dims = [] x [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model", "x", ?}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %c_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
    %7 = stablehlo.dynamic_slice %2, %c_0, sizes = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
    %8 = sdy.manual_computation(%3) in_shardings=[<@mesh, [{?}], replicated={"model"}>] out_shardings=[<@mesh, [{}, {"model", ?}, {?}, {?}]>] manual_axes={"model"} (%arg6: tensor<8xf32>) {
      %24 = stablehlo.iota dim = 0 : tensor<8x8x8x2xf32>
      %25 = stablehlo.iota dim = 3 : tensor<1x1x2x4xf32>
      %26 = stablehlo.convolution(%24, %25) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}, {"x", ?}]>]>} : (tensor<8x8x8x2xf32>, tensor<1x1x2x4xf32>) -> tensor<8x8x8x4xf32>
      sdy.return %26 : tensor<8x8x8x4xf32>
    } : (tensor<8xf32>) -> tensor<8x16x8x4xf32>
    %9 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}], replicated={"x"}> : tensor<16x2xf32>
    %10 = stablehlo.custom_call @foo(%7, %7) {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8} need_replication={i}, custom>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %11 = stablehlo.multiply %10, %7 : tensor<8xf32>
    %12 = stablehlo.iota dim = 2 : tensor<8x16x1xi32>
    %13 = "stablehlo.gather"(%6, %12) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"model", ?}]>]>} : (tensor<8xf32>, tensor<8x16x1xi32>) -> tensor<8x16xf32>
    %14 = sdy.manual_computation(%10) in_shardings=[<@mesh, [{"model", ?}]>] out_shardings=[<@mesh, [{"model", "x", ?}]>] manual_axes={"model"} (%arg6: tensor<4xf32>) {
      %24 = stablehlo.concatenate %arg6, %arg6, %arg6, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
      sdy.return %24 : tensor<12xf32>
    } : (tensor<8xf32>) -> tensor<24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = "stablehlo.reduce_window"(%11, %cst) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %24 = stablehlo.maximum %arg6, %arg7 : tensor<f32>
      stablehlo.return %24 : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %16 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>]>} : tensor<16x4x2xf32>
    %17 = stablehlo.dot_general %5, %16, batching_dims = [0] x [1], contracting_dims = [1] x [2] : (tensor<4x2xf32>, tensor<16x4x2xf32>) -> tensor<4x16xf32>
    %18 = call @f0(%17) : (tensor<4x16xf32>) -> tensor<64xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %19:3 = stablehlo.while(%iterArg = %2, %iterArg_4 = %11, %iterArg_5 = %c_1) : tensor<8xf32>, tensor<8xf32>, tensor<i32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %24 = stablehlo.compare LT, %iterArg_5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %24 : tensor<i1>
    } do {
      %24 = stablehlo.subtract %iterArg_4, %15 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : tensor<8xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %25 = stablehlo.add %iterArg_5, %c_6 : tensor<i32>
      stablehlo.return %24, %24, %25 : tensor<8xf32>, tensor<8xf32>, tensor<i32>
    }
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.pad %0, %cst_2, low = [0, 2], high = [0, 2], interior = [0, 0] : (tensor<16x2xf32>, tensor<f32>) -> tensor<16x6xf32>
    %21:2 = stablehlo.optimization_barrier %19#1, %20 : tensor<8xf32>, tensor<16x6xf32>
    %22 = sdy.sharding_constraint %9 <@mesh, [{"model", ?}, {}]> : tensor<16x2xf32>
    %cst_3 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model", ?}, {?}], replicated={"x"}>]>} dense<1.500000e+00> : tensor<8x2xf32>
    %23 = stablehlo.concatenate %13, %cst_3, dim = 1 : (tensor<8x16xf32>, tensor<8x2xf32>) -> tensor<8x18xf32>
    return %22, %23, %21#1, %5 : tensor<16x2xf32>, tensor<8x18xf32>, tensor<16x6xf32>, tensor<4x2xf32>
  }
  func.func private @f0(%arg0: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {?}]>}) -> tensor<64xf32> {
    %0:3 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"model", "x", ?}]>, <@mesh, [{?}, {"model", ?}]>, <@mesh, [{"model", ?}, {?}]>]>} %arg0, %arg0, %arg0 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
    %1 = stablehlo.reshape %0#2 : (tensor<4x16xf32>) -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}
