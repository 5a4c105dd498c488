module @fuzz {
  sdy.mesh @mesh = <["y"=8, "data"=2, "w"=2], device_ids=[22, 25, 19, 7, 20, 26, 0, 5, 8, 21, 13, 3, 30, 17, 23, 2, 12, 9, 28, 29, 14, 15, 11, 10, 1, 27, 18, 31, 24, 4, 16, 6]>
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w"}, {}, {"data"}]>}, %arg2: tensor<24x4xbf16>) -> (tensor<4x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}, {"data"}, {}], replicated={"w"}>}, tensor<8xf32>) {
    %0 = stablehlo.maximum %arg1, %arg1 : tensor<4x4x4xf32>
    %1 = call @f0(%0) : (tensor<4x4x4xf32>) -> tensor<2x2x4x4xbf16>
    %2 = stablehlo.maximum %0, %0 : tensor<4x4x4xf32>
    %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"w", ?}, {?}], replicated={"data"}>]>} dense<1.000000e+00> : tensor<3x1x4x2xbf16>
    %3 = stablehlo.convolution(%1, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4x4xbf16>, tensor<3x1x4x2xbf16>) -> tensor<2x2x4x2xbf16>
    %4 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"data", "w"}]>]>} : (tensor<4x4x4xf32>) -> tensor<4x16xf32>
    %5 = stablehlo.add %4, %4 : tensor<4x16xf32>
    %6 = stablehlo.compare GT, %4, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xi1>
    %7 = stablehlo.select %6, %4, %5 : tensor<4x16xi1>, tensor<4x16xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8:2 = stablehlo.while(%iterArg = %4, %iterArg_3 = %c) : tensor<4x16xf32>, tensor<i32>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
      %32 = "stablehlo.case"(%c_4) ({
        %34 = stablehlo.negate %iterArg : tensor<4x16xf32>
        stablehlo.return %34 : tensor<4x16xf32>
      }, {
        %34 = stablehlo.tanh %iterArg : tensor<4x16xf32>
        %cst_6 = stablehlo.constant dense<1.500000e+00> : tensor<4x16xf32>
        %35 = stablehlo.add %cst_6, %34 : tensor<4x16xf32>
        stablehlo.return %35 : tensor<4x16xf32>
      }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}], replicated={"y"}>]>} : (tensor<i32>) -> tensor<4x16xf32>
      %c_5 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], replicated={"data"}>]>} dense<1> : tensor<i32>
      %33 = stablehlo.add %iterArg_3, %c_5 : tensor<i32>
      stablehlo.return %32, %33 : tensor<4x16xf32>, tensor<i32>
    }
    %9 = sdy.sharding_constraint %7 <@mesh, [{"w"}, {"data", ?}]> : tensor<4x16xf32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %10:4 = stablehlo.while(%iterArg = %4, %iterArg_3 = %2, %iterArg_4 = %8#0, %iterArg_5 = %c_0) : tensor<4x16xf32>, tensor<4x4x4xf32>, tensor<4x16xf32>, tensor<i32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %32 = stablehlo.compare LT, %iterArg_5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    } do {
      %32 = stablehlo.iota dim = 0 : tensor<1x1x2xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %33 = stablehlo.dynamic_update_slice %iterArg_3, %32, %c_6, %iterArg_5, %iterArg_5 : (tensor<4x4x4xf32>, tensor<1x1x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4x4xf32>
      %34 = stablehlo.tanh %iterArg : tensor<4x16xf32>
      %35 = stablehlo.tanh %iterArg_4 : tensor<4x16xf32>
      %c_7 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], replicated={"y"}>]>} dense<1> : tensor<i32>
      %36 = stablehlo.add %iterArg_5, %c_7 : tensor<i32>
      stablehlo.return %34, %33, %35, %36 : tensor<4x16xf32>, tensor<4x4x4xf32>, tensor<4x16xf32>, tensor<i32>
    }
    sdy.sharding_group %5 group_id=0 : tensor<4x16xf32>
    sdy.sharding_group %9 group_id=0 : tensor<4x16xf32>
    %11 = sdy.sharding_constraint %10#2 <@mesh, [{"y":(4)2, "data", ?}, {"w"}]> : tensor<4x16xf32>
    %12 = call @f1(%3) : (tensor<2x2x4x2xbf16>) -> tensor<2x2x4x2xbf16>
    %13 = stablehlo.dot_general %10#0, %5, contracting_dims = [0] x [0] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
    %14 = call @f0(%arg1) : (tensor<4x4x4xf32>) -> tensor<2x2x4x4xbf16>
    %15 = stablehlo.transpose %0, dims = [1, 2, 0] : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %16 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x16xi32>
    %17:2 = "stablehlo.sort"(%4, %16) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<i32>):
      %32 = stablehlo.compare LT, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %32 : tensor<i1>
    }) : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
    %18 = stablehlo.slice %13 [11:13, 7:10] : (tensor<16x16xf32>) -> tensor<2x3xf32>
    %19 = stablehlo.iota dim = 0 : tensor<2x4x4xf32>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<2x4x4xf32>
    %20 = stablehlo.concatenate %15, %19, %cst_1, dim = 0 : (tensor<4x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<8x4x4xf32>
    %21 = stablehlo.custom_call @foo(%17#0, %17#0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w"}, {"data"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=16} need_replication={i}, custom>} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %22 = stablehlo.dot_general %15, %20, batching_dims = [1] x [1], contracting_dims = [0] x [2] : (tensor<4x4x4xf32>, tensor<8x4x4xf32>) -> tensor<4x4x8xf32>
    %23 = stablehlo.transpose %22, dims = [0, 1, 2] : (tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %24 = stablehlo.subtract %9, %21 : tensor<4x16xf32>
    %25 = sdy.sharding_constraint %15 <@mesh, [{?}, {}, {"w", "data"}]> : tensor<4x4x4xf32>
    %c_2 = stablehlo.constant dense<1> : tensor<2x1xi32>
    %26 = "stablehlo.gather"(%24, %c_2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 4, 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"w", ?}, {"data"}]>]>} : (tensor<4x16xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
    %27 = stablehlo.dot_general %23, %2, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"y", ?}, {}, {?}]>]>} : (tensor<4x4x8xf32>, tensor<4x4x4xf32>) -> tensor<4x8x4x4xf32>
    %28 = sdy.manual_computation(%18, %arg1) in_shardings=[<@mesh, [{"data", ?}, {}], replicated={"y", "w"}>, <@mesh, [{"data", "w"}, {?}, {}], replicated={"y"}>] out_shardings=[<@mesh, [{"w"}, {"y", "data", ?}, {}]>] manual_axes={"y", "data", "w"} (%arg3: tensor<1x3xf32>, %arg4: tensor<1x4x4xf32>) {
      %32 = stablehlo.complex %arg4, %arg4 : tensor<1x4x4xcomplex<f32>>
      %33 = stablehlo.fft %32, type = FFT, length = [4] : (tensor<1x4x4xcomplex<f32>>) -> tensor<1x4x4xcomplex<f32>>
      %34 = stablehlo.real %33 : (tensor<1x4x4xcomplex<f32>>) -> tensor<1x4x4xf32>
      sdy.return %34 : tensor<1x4x4xf32>
    } : (tensor<2x3xf32>, tensor<4x4x4xf32>) -> tensor<2x64x4xf32>
    %29 = stablehlo.broadcast_in_dim %arg0, dims = [3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"w"}, {?}]>]>} : (tensor<4xf32>) -> tensor<3x1x4x4xf32>
    %30 = stablehlo.convolution(%27, %29) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"data"}, {}]>]>} : (tensor<4x8x4x4xf32>, tensor<3x1x4x4xf32>) -> tensor<4x8x4x4xf32>
    %31 = stablehlo.reshape %26 : (tensor<2x4xf32>) -> tensor<8xf32>
    return %30, %31 : tensor<4x8x4x4xf32>, tensor<8xf32>
  }
  func.func private @f0(%arg0: tensor<4x4x4xf32>) -> tensor<2x2x4x4xbf16> {
    %0 = stablehlo.convert %arg0 : (tensor<4x4x4xf32>) -> tensor<4x4x4xbf16>
    %1 = stablehlo.reshape %0 : (tensor<4x4x4xbf16>) -> tensor<2x2x4x4xbf16>
    return %1 : tensor<2x2x4x4xbf16>
  }
  func.func private @f1(%arg0: tensor<2x2x4x2xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y":(4)2, ?}, {}, {"data"}], replicated={"w"}>}) -> tensor<2x2x4x2xbf16> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x2x4x2xbf16>
    %0 = stablehlo.add %arg0, %cst : tensor<2x2x4x2xbf16>
    return %0 : tensor<2x2x4x2xbf16>
  }
}
