module @fuzz {
  sdy.mesh @mesh = <["y"=8]>
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<24xf32>, tensor<1x3x6xf32>, tensor<6x4xf32>) {
    %0 = stablehlo.custom_call @foo(%arg1, %arg1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=2, j=6} need_replication={i}, custom>} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %c) : tensor<2x6xf32>, tensor<i32>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i32>
      %17 = stablehlo.compare LT, %iterArg_3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %17 : tensor<i1>
    } do {
      %17 = stablehlo.reshape %iterArg : (tensor<2x6xf32>) -> tensor<2x6xf32>
      %c_4 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_3, %c_4 : tensor<i32>
      stablehlo.return %17, %18 : tensor<2x6xf32>, tensor<i32>
    }
    %2 = stablehlo.reverse %arg1, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], replicated={"y"}>]>} : tensor<2x6xf32>
    %3 = stablehlo.multiply %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<f32>
    %4 = stablehlo.subtract %2, %2 : tensor<2x6xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
    %6 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x12xf32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<6x2xf32>
    %7 = stablehlo.concatenate %5, %cst, dim = 1 : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
    %8 = call @f0(%3) : (tensor<f32>) -> tensor<bf16>
    %c_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %9 = stablehlo.dynamic_slice %6, %c_0, %1#1, %c_1, sizes = [1, 6, 6] : (tensor<2x6x12xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x6x6xf32>
    %10 = sdy.sharding_constraint %3 <@mesh, []> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = "stablehlo.reduce_window"(%9, %cst_2) <{padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %17 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %17 : tensor<f32>
    }) : (tensor<1x6x6xf32>, tensor<f32>) -> tensor<1x3x6xf32>
    %12 = stablehlo.transpose %7, dims = [0, 1] : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %13 = sdy.sharding_constraint %12 <@mesh, [{}, {}]> : tensor<6x4xf32>
    %14 = stablehlo.maximum %11, %11 : tensor<1x3x6xf32>
    sdy.sharding_group %7 group_id=0 : tensor<6x4xf32>
    sdy.sharding_group %13 group_id=0 : tensor<6x4xf32>
    sdy.sharding_group %12 group_id=0 : tensor<6x4xf32>
    %15 = stablehlo.add %13, %7 : tensor<6x4xf32>
    %16 = stablehlo.reshape %13 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<6x4xf32>) -> tensor<24xf32>
    return %15, %16, %14, %13 : tensor<6x4xf32>, tensor<24xf32>, tensor<1x3x6xf32>, tensor<6x4xf32>
  }
  func.func private @f0(%arg0: tensor<f32>) -> tensor<bf16> {
    %0 = stablehlo.convert %arg0 : (tensor<f32>) -> tensor<bf16>
    return %0 : tensor<bf16>
  }
}
