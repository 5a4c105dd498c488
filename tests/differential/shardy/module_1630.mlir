module @fuzz {
  sdy.mesh @mesh = <["w"=1]>
  func.func public @main(%arg0: tensor<4x8x4xf32>, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg2: tensor<8x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}, {?}]>}, %arg3: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"w"}, {?}, {}]>}, %arg4: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"w", ?}]>}, %arg5: tensor<f32>) -> (tensor<8xf32>, tensor<8x8x8x8xf32>) {
    %0 = sdy.sharding_constraint %arg3 <@mesh, [{?}, {"w"}, {?}, {?}]> : tensor<8x8x8x8xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %1 = stablehlo.select %c, %arg3, %0 : tensor<i1>, tensor<8x8x8x8xf32>
    %2 = call @f0(%arg2) : (tensor<8x4x8xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<f32>) -> tensor<f32>
    %4 = stablehlo.add %arg5, %3 : tensor<f32>
    %5 = stablehlo.multiply %arg1, %4 : tensor<f32>
    %6 = stablehlo.maximum %2, %arg4 : tensor<8x4xf32>
    %7 = stablehlo.iota dim = 2 : tensor<8x4x1xi32>
    %8 = "stablehlo.gather"(%2, %7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x4xf32>, tensor<8x4x1xi32>) -> tensor<8x4xf32>
    %9 = stablehlo.slice %8 [0:8, 0:4:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
    %10 = sdy.sharding_constraint %6 <@mesh, [{?}, {?}], unreduced={"w"}> : tensor<8x4xf32>
    %11 = call @f1(%6) : (tensor<8x4xf32>) -> tensor<2x8x4x8xf32>
    %12 = sdy.sharding_constraint %5 <@mesh, []> : tensor<f32>
    %13 = call @f2(%9) : (tensor<8x2xf32>) -> tensor<8x2xf32>
    %14 = call @f3(%2) : (tensor<8x4xf32>) -> tensor<7x4xf32>
    %15 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.pad %13, %cst, low = [0, 0], high = [0, -1], interior = [0, 0] : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x1xf32>
    %17 = stablehlo.reshape %16 : (tensor<8x1xf32>) -> tensor<8xf32>
    %18 = sdy.sharding_constraint %15 <@mesh, [{"w", ?}, {?}]> : tensor<4x16xf32>
    sdy.sharding_group %18 group_id=0 : tensor<4x16xf32>
    sdy.sharding_group %15 group_id=0 : tensor<4x16xf32>
    %19 = stablehlo.add %17, %17 : tensor<8xf32>
    %20 = stablehlo.add %1, %0 : tensor<8x8x8x8xf32>
    return %19, %20 : tensor<8xf32>, tensor<8x8x8x8xf32>
  }
  func.func private @f0(%arg0: tensor<8x4x8xf32>) -> tensor<8x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0, %iterArg_1 = %arg0, %iterArg_2 = %c) : tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<i32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = sdy.sharding_constraint %iterArg_0 <@mesh, [{?}, {?}, {}], unreduced={"w"}> : tensor<8x4x8xf32>
      %4 = stablehlo.tanh %iterArg_1 : tensor<8x4x8xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_2, %c_3 : tensor<i32>
      stablehlo.return %3, %3, %4, %5 : tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<i32>
    }
    %1 = stablehlo.dot_general %0#1, %arg0, batching_dims = [2, 1] x [0, 1], contracting_dims = [0] x [2] : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"w"}p2, {}]> : tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  func.func private @f1(%arg0: tensor<8x4xf32>) -> tensor<2x8x4x8xf32> {
    %0 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"w", ?}p1, {?}, {?}]>]>} : tensor<2x8x4x4xf32>
    %1 = stablehlo.iota dim = 3 : tensor<1x1x4x8xf32>
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<1x1x4x8xf32>) -> tensor<2x8x4x8xf32>
    %3 = stablehlo.iota dim = 3 : tensor<2x8x4x8xf32>
    %4 = stablehlo.compare GT, %2, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}, {?}], unreduced={"w"}>]>} : (tensor<2x8x4x8xf32>, tensor<2x8x4x8xf32>) -> tensor<2x8x4x8xi1>
    %5 = stablehlo.select %4, %2, %3 : tensor<2x8x4x8xi1>, tensor<2x8x4x8xf32>
    return %5 : tensor<2x8x4x8xf32>
  }
  func.func private @f2(%arg0: tensor<8x2xf32>) -> tensor<8x2xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = "stablehlo.case"(%c) ({
      %2 = stablehlo.custom_call @foo(%arg0, %arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=2}, custom>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
      stablehlo.return %2 : tensor<8x2xf32>
    }, {
      %cst = stablehlo.constant dense<1.500000e+00> : tensor<8x2xf32>
      %2 = stablehlo.clamp %arg0, %arg0, %cst : tensor<8x2xf32>
      stablehlo.return %2 : tensor<8x2xf32>
    }) : (tensor<i32>) -> tensor<8x2xf32>
    %1 = stablehlo.tanh %0 : tensor<8x2xf32>
    return %1 : tensor<8x2xf32>
  }
  func.func private @f3(%arg0: tensor<8x4xf32>) -> tensor<7x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<7x4xf32>
    return %0 : tensor<7x4xf32>
  }
}
