module @fuzz {
  sdy.mesh @mesh = <["y"=2, "w"=4, "data"=2, "z"=3]>
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg2: tensor<8x4x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}, {?}, {"w", ?}], unreduced={"y"}>}, %arg3: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<2xi1>, tensor<2xf32>) {
    %0 = stablehlo.negate %arg1 : tensor<f32>
    %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0.000000e+00> : tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %10 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"y"}>]>} : (tensor<f32>) -> tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %4 = stablehlo.add %1, %1 : tensor<2xf32>
    %5 = stablehlo.iota dim = 0 : tensor<3xf32>
    %6 = stablehlo.clamp %3, %3, %5 : tensor<3xf32>
    sdy.sharding_group %6 group_id=0 : tensor<3xf32>
    sdy.sharding_group %3 group_id=0 : tensor<3xf32>
    sdy.sharding_group %4 group_id=1 : tensor<2xf32>
    sdy.sharding_group %1 group_id=1 : tensor<2xf32>
    %7 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<2xf32>) -> tensor<2xf32>
    %8 = stablehlo.compare GT, %4, %7 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %9 = stablehlo.select %8, %4, %7 : tensor<2xi1>, tensor<2xf32>
    return %8, %9 : tensor<2xi1>, tensor<2xf32>
  }
}
