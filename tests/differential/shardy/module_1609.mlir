module @fuzz {
  sdy.mesh @mesh = <["x"=8, "z"=8]>
  func.func public @main(%arg0: tensor<12x12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z":(1)4, ?}p2, {?}, {?}], replicated={"x":(1)2}>}, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg2: tensor<12x4x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}, %arg3: tensor<16x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z"}p1]>}) -> (tensor<i32>, tensor<12x4x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {}]>}, tensor<16x12xbf16>, tensor<4x12x12xf32>) {
    %0 = stablehlo.convert %arg3 : (tensor<16x12xf32>) -> tensor<16x12xbf16>
    %1 = stablehlo.iota dim = 1 : tensor<12x4x12xi32>
    %2:2 = "stablehlo.sort"(%arg2, %1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<i32>, %arg7: tensor<i32>):
      %21 = stablehlo.compare LT, %arg4, %arg5 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    }) : (tensor<12x4x12xf32>, tensor<12x4x12xi32>) -> (tensor<12x4x12xf32>, tensor<12x4x12xi32>)
    %3 = stablehlo.transpose %2#0, dims = [1, 0, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z":(1)4, ?}p1, {"z":(4)2, ?}, {?}]>]>} : (tensor<12x4x12xf32>) -> tensor<4x12x12xf32>
    %4 = stablehlo.iota dim = 1 : tensor<16x2xf32>
    %5 = stablehlo.concatenate %arg3, %4, dim = 1 : (tensor<16x12xf32>, tensor<16x2xf32>) -> tensor<16x14xf32>
    %6 = stablehlo.transpose %5, dims = [0, 1] : (tensor<16x14xf32>) -> tensor<16x14xf32>
    %7 = stablehlo.compare GT, %3, %3 : (tensor<4x12x12xf32>, tensor<4x12x12xf32>) -> tensor<4x12x12xi1>
    %8 = stablehlo.select %7, %3, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}, {?}]>]>} : tensor<4x12x12xi1>, tensor<4x12x12xf32>
    %9 = sdy.manual_computation(%6, %6) in_shardings=[<@mesh, [{"x"}, {}], replicated={"z"}>, <@mesh, [{"x", ?}, {?}], replicated={"z"}>] out_shardings=[<@mesh, [{}, {}], replicated={"x", "z"}>] manual_axes={"x", "z"} (%arg4: tensor<2x14xf32>, %arg5: tensor<2x14xf32>) {
      %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
      %21 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x14xf32>
      %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<2x14xf32>
      %22 = stablehlo.concatenate %21, %cst_1, %21, dim = 1 : (tensor<2x14xf32>, tensor<2x14xf32>, tensor<2x14xf32>) -> tensor<2x42xf32>
      sdy.return %22 : tensor<2x42xf32>
    } : (tensor<16x14xf32>, tensor<16x14xf32>) -> tensor<2x42xf32>
    %10 = stablehlo.custom_call @foo(%8, %8) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(4)2}, {"x":(1)4}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=12, k=12}, custom>} : (tensor<4x12x12xf32>, tensor<4x12x12xf32>) -> tensor<4x12x12xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x12xbf16>
    %12 = stablehlo.add %0, %11 : tensor<16x12xbf16>
    %13 = sdy.sharding_constraint %8 <@mesh, [{}, {"x":(2)4, ?}p0, {?}], replicated={"z"}> : tensor<4x12x12xf32>
    %14 = stablehlo.abs %9 : tensor<2x42xf32>
    %15 = stablehlo.slice %2#0 [0:12, 3:4, 9:10] : (tensor<12x4x12xf32>) -> tensor<12x1x1xf32>
    %16 = call @f0(%15) : (tensor<12x1x1xf32>) -> tensor<12x3x1xf32>
    %17 = stablehlo.maximum %arg2, %arg2 : tensor<12x4x12xf32>
    %18 = stablehlo.transpose %10, dims = [2, 0, 1] : (tensor<4x12x12xf32>) -> tensor<12x4x12xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %19:3 = stablehlo.while(%iterArg = %14, %iterArg_0 = %17, %iterArg_1 = %c) : tensor<2x42xf32>, tensor<12x4x12xf32>, tensor<i32>
    cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %21 = stablehlo.compare LT, %iterArg_1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %21 : tensor<i1>
    } do {
      %21 = sdy.sharding_constraint %iterArg_0 <@mesh, [{?}, {"x"}, {"z":(1)4, ?}]> : tensor<12x4x12xf32>
      %22 = stablehlo.rsqrt %iterArg_0 : tensor<12x4x12xf32>
      %23 = stablehlo.tanh %iterArg : tensor<2x42xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %24 = stablehlo.add %iterArg_1, %c_2 : tensor<i32>
      stablehlo.return %23, %22, %24 : tensor<2x42xf32>, tensor<12x4x12xf32>, tensor<i32>
    }
    %20 = stablehlo.clamp %arg2, %17, %18 : tensor<12x4x12xf32>
    return %19#2, %20, %12, %10 : tensor<i32>, tensor<12x4x12xf32>, tensor<16x12xbf16>, tensor<4x12x12xf32>
  }
  func.func private @f0(%arg0: tensor<12x1x1xf32>) -> tensor<12x3x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [0, 2, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<12x1x1xf32>, tensor<f32>) -> tensor<12x3x1xf32>
    return %0 : tensor<12x3x1xf32>
  }
}
