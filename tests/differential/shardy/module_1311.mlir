module @fuzz {
  sdy.mesh @mesh = <["z"=4, "y"=1, "x"=1]>
  func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}, {"x"}]>}, %arg1: tensor<32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "y", ?}]>}, %arg2: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}]>}, %arg3: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}p0, {"x"}p1]>}) -> (tensor<32xf32>, tensor<8x4xf32>, tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x", "y", ?}]>}) {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %1 = stablehlo.add %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : tensor<32x32xf32>
    %2 = stablehlo.iota dim = 0 : tensor<8x1xi32>
    %3 = "stablehlo.gather"(%arg3, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<16x16xf32>, tensor<8x1xi32>) -> tensor<8x16xf32>
    %4 = call @f0(%3) : (tensor<8x16xf32>) -> tensor<4x2x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<f32>
    %6 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
    %7 = stablehlo.transpose %0, dims = [0, 1] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %8 = stablehlo.rsqrt %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<f32>
    %9 = sdy.sharding_constraint %4 <@mesh, [{"y", "z", ?}, {}, {}]> : tensor<4x2x16xf32>
    %10 = stablehlo.add %8, %8 : tensor<f32>
    %11 = stablehlo.dot_general %7, %10, contracting_dims = [] x [] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
    %12 = stablehlo.dot_general %11, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32xf32>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %13 = stablehlo.multiply %10, %cst_1 : tensor<f32>
    %14 = stablehlo.convert %13 : (tensor<f32>) -> tensor<bf16>
    %15 = stablehlo.compare GT, %12, %arg2 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xi1>
    %16 = stablehlo.select %15, %12, %arg2 : tensor<32xi1>, tensor<32xf32>
    %17 = stablehlo.reshape %16 : (tensor<32xf32>) -> tensor<32xf32>
    sdy.sharding_group %17 group_id=0 : tensor<32xf32>
    sdy.sharding_group %12 group_id=0 : tensor<32xf32>
    %18 = stablehlo.abs %17 : tensor<32xf32>
    %19 = stablehlo.maximum %18, %17 : tensor<32xf32>
    %20 = stablehlo.custom_call @foo(%18, %18) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %21 = stablehlo.reverse %16, dims = [0] : tensor<32xf32>
    %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
    %22 = "stablehlo.case"(%c) ({
      %28 = sdy.sharding_constraint %6 <@mesh, [{}, {"x"}, {}]> : tensor<1x32x32xf32>
      %29 = stablehlo.sine %18 : tensor<32xf32>
      stablehlo.return %29 : tensor<32xf32>
    }, {
      %28 = stablehlo.sine %18 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", "x", ?}], replicated={"y"}>]>} : tensor<32xf32>
      stablehlo.return %28 : tensor<32xf32>
    }) : (tensor<i32>) -> tensor<32xf32>
    %23 = call @f1(%14) : (tensor<bf16>) -> tensor<bf16>
    %24 = call @f2(%22) : (tensor<32xf32>) -> tensor<32xf32>
    %25 = stablehlo.dot_general %19, %7, contracting_dims = [0] x [0] : (tensor<32xf32>, tensor<32x32xf32>) -> tensor<32xf32>
    %26 = stablehlo.maximum %25, %20 : tensor<32xf32>
    %27 = stablehlo.reshape %24 : (tensor<32xf32>) -> tensor<8x4xf32>
    return %26, %27, %21 : tensor<32xf32>, tensor<8x4xf32>, tensor<32xf32>
  }
  func.func private @f0(%arg0: tensor<8x16xf32>) -> tensor<4x2x16xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<8x16xf32>) -> tensor<4x2x16xf32>
    %1 = stablehlo.optimization_barrier %0 : tensor<4x2x16xf32>
    return %1 : tensor<4x2x16xf32>
  }
  func.func private @f1(%arg0: tensor<bf16>) -> tensor<bf16> {
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<bf16>
    %0 = stablehlo.clamp %arg0, %arg0, %cst : tensor<bf16>
    return %0 : tensor<bf16>
  }
  func.func private @f2(%arg0: tensor<32xf32>) -> tensor<32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0, %iterArg_1 = %c) : tensor<32xf32>, tensor<32xf32>, tensor<i32>
    cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.tanh %iterArg : tensor<32xf32>
      %3 = stablehlo.tanh %iterArg_0 : tensor<32xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_1, %c_2 : tensor<i32>
      stablehlo.return %2, %3, %4 : tensor<32xf32>, tensor<32xf32>, tensor<i32>
    }
    %1 = stablehlo.maximum %0#0, %0#1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", "x"}p1]>]>} : tensor<32xf32>
    return %1 : tensor<32xf32>
  }
}
