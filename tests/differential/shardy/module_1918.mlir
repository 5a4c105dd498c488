module @fuzz {
  sdy.mesh @mesh = <["model"=8]>
  func.func public @main(%arg0: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}]>}, %arg2: tensor<16x16xf32>, %arg3: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, %arg4: tensor<4x4x16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {"model":(4)2, ?}p1, {?}]>}, %arg5: tensor<16x4x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}) -> (tensor<4xf32>, tensor<16x4x16x4xbf16>, tensor<4xi1>, tensor<16x4x32x2xi1>) {
    sdy.sharding_group %arg2 group_id=0 : tensor<16x16xf32>
    sdy.sharding_group %arg1 group_id=0 : tensor<16x16xf32>
    %0 = call @f0(%arg1) : (tensor<16x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.iota dim = 2 : tensor<16x4x16x4xf32>
    %2 = stablehlo.subtract %1, %arg5 : tensor<16x4x16x4xf32>
    %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], replicated={"model"}>]>} dense<0> : tensor<i32>
    %3:2 = stablehlo.while(%iterArg = %0, %iterArg_1 = %c) : tensor<4x16xf32>, tensor<i32>
    cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %18 = stablehlo.compare LT, %iterArg_1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    } do {
      %18 = stablehlo.tanh %iterArg : tensor<4x16xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg_1, %c_2 : tensor<i32>
      stablehlo.return %18, %19 : tensor<4x16xf32>, tensor<i32>
    }
    %4 = stablehlo.subtract %arg5, %2 : tensor<16x4x16x4xf32>
    %5 = stablehlo.add %arg5, %2 : tensor<16x4x16x4xf32>
    %6 = stablehlo.slice %arg2 [0:16, 11:13] : (tensor<16x16xf32>) -> tensor<16x2xf32>
    %7 = stablehlo.reshape %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"model", ?}, {?}, {?}, {?}]>]>} : (tensor<16x4x16x4xf32>) -> tensor<16x4x32x2xf32>
    %8 = "stablehlo.sort"(%6) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %18 = stablehlo.compare LT, %arg6, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %18 : tensor<i1>
    }) : (tensor<16x2xf32>) -> tensor<16x2xf32>
    %9 = stablehlo.compare GT, %7, %7 : (tensor<16x4x32x2xf32>, tensor<16x4x32x2xf32>) -> tensor<16x4x32x2xi1>
    %10 = stablehlo.select %9, %7, %7 : tensor<16x4x32x2xi1>, tensor<16x4x32x2xf32>
    %11 = stablehlo.convert %4 : (tensor<16x4x16x4xf32>) -> tensor<16x4x16x4xbf16>
    %12:3 = stablehlo.optimization_barrier %10, %11, %arg3 : tensor<16x4x32x2xf32>, tensor<16x4x16x4xbf16>, tensor<4xf32>
    %13 = stablehlo.sine %8 : tensor<16x2xf32>
    %14 = call @f1(%13) : (tensor<16x2xf32>) -> tensor<2x16xf32>
    %15 = stablehlo.compare GT, %arg3, %arg3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %16 = stablehlo.select %15, %arg3, %arg3 : tensor<4xi1>, tensor<4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8x2x16x2xbf16>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %17 = stablehlo.dynamic_update_slice %12#1, %cst, %3#1, %c_0, %3#1, %3#1 : (tensor<16x4x16x4xbf16>, tensor<8x2x16x2xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<16x4x16x4xbf16>
    return %16, %17, %15, %9 : tensor<4xf32>, tensor<16x4x16x4xbf16>, tensor<4xi1>, tensor<16x4x32x2xi1>
  }
  func.func private @f0(%arg0: tensor<16x16xf32>) -> tensor<4x16xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0, %iterArg_1 = %c) : tensor<16x16xf32>, tensor<16x16xf32>, tensor<i32>
    cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.abs %iterArg_0 : tensor<16x16xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_1, %c_2 : tensor<i32>
      stablehlo.return %3, %3, %4 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<i32>
    }
    %1 = stablehlo.iota dim = 1 : tensor<4x1xi32>
    %2 = "stablehlo.gather"(%0#0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 16, 1>}> : (tensor<16x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
    return %2 : tensor<4x16xf32>
  }
  func.func private @f1(%arg0: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}], replicated={"model"}>}) -> tensor<2x16xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<16x2xf32>) -> tensor<2x16xf32>
    %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"model":(1)4}p0]>]>} : tensor<2x16xf32>
    return %1 : tensor<2x16xf32>
  }
}
