module @fuzz {
  sdy.mesh @mesh = <["z"=1, "w"=8]>
  func.func public @main(%arg0: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg1: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w":(2)4, "z", ?}, {}]>}, %arg2: tensor<3x8x2xi32>, %arg3: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg4: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, [], replicated={"w":(1)4}>}, %arg5: tensor<3x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z", "w"}]>}) -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w":(2)2}]>}, tensor<8x2x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"w":(1)2}, {"z"}, {?}]>}, tensor<1x32x4x24xf32>, tensor<1x24xf32>) {
    %0 = stablehlo.slice %arg5 [0:2:2, 0:24] : (tensor<3x24xf32>) -> tensor<1x24xf32>
    %1 = stablehlo.dot_general %0, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {?}]>]>} : (tensor<1x24xf32>, tensor<1x24xf32>) -> tensor<1x24xf32>
    %2:3 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"w":(4)2}]>, <@mesh, [{?}, {"w"}]>, <@mesh, []>]>} %0, %0, %arg3 : tensor<1x24xf32>, tensor<1x24xf32>, tensor<f32>
    %3 = stablehlo.subtract %2#1, %2#1 : tensor<1x24xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x24xf32>) -> tensor<4x6xf32>
    %5 = call @f0(%4) : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %6 = sdy.sharding_constraint %arg5 <@mesh, [{?}, {?}]> : tensor<3x24xf32>
    %7 = stablehlo.dot_general %2#1, %1, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<1x24xf32>, tensor<1x24xf32>) -> tensor<1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.pad %7, %cst, low = [1], high = [0], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}]>]>} : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %9 = call @f1(%8) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {?}, {"w"}]>]>} : (tensor<2xf32>) -> tensor<2x4x4x8xf32>
    %10 = stablehlo.broadcast_in_dim %1, dims = [0, 3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"z"}, {}, {}]>]>} : (tensor<1x24xf32>) -> tensor<1x32x4x24xf32>
    %11 = "stablehlo.sort"(%8) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %16 = stablehlo.compare LT, %arg6, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %12 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %13 = stablehlo.add %11, %12 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", ?}]>]>} : tensor<2xf32>
    %14 = stablehlo.custom_call @foo(%13, %13) {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=2} need_replication={i}, custom>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %15 = stablehlo.broadcast_in_dim %12, dims = [1] : (tensor<2xf32>) -> tensor<8x2x12xf32>
    return %14, %15, %10, %3 : tensor<2xf32>, tensor<8x2x12xf32>, tensor<1x32x4x24xf32>, tensor<1x24xf32>
  }
  func.func private @f0(%arg0: tensor<4x6xf32>) -> tensor<6x4xf32> {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<6x6xf32>
    %0 = stablehlo.iota dim = 1 : tensor<6x4xf32>
    %1 = "stablehlo.triangular_solve"(%cst, %0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
  func.func private @f1(%arg0: tensor<2xf32>) -> tensor<2x4x4x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<2xf32>) -> tensor<2x16x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x16x8xf32>) -> tensor<2x4x4x8xf32>
    return %1 : tensor<2x4x4x8xf32>
  }
}
