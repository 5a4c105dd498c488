module @fuzz {
  sdy.mesh @mesh = <["model"=2]>
  func.func public @main(%arg0: tensor<4x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"model"}>}, %arg1: tensor<24x24xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, %arg2: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}], unreduced={"model"}>}, %arg3: tensor<32x24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"model"}p2]>}, %arg4: tensor<12x4xf32>) -> (tensor<2x4x4xf32>, tensor<24x24x3x2xbf16>, tensor<24x24x6xbf16>) {
    %0 = stablehlo.reshape %arg2 : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<6x24x24xbf16>
    %1 = stablehlo.dot_general %arg1, %cst, batching_dims = [1, 0] x [1, 2], contracting_dims = [] x [] : (tensor<24x24xbf16>, tensor<6x24x24xbf16>) -> tensor<24x24x6xbf16>
    %2 = stablehlo.iota dim = 0 : tensor<12x4xf32>
    %3 = stablehlo.subtract %arg4, %2 : tensor<12x4xf32>
    %4 = stablehlo.optimization_barrier %0 : tensor<2x2x4xf32>
    %5 = stablehlo.add %0, %0 : tensor<2x2x4xf32>
    %6 = sdy.sharding_constraint %3 <@mesh, [{?}, {}], replicated={"model"}> : tensor<12x4xf32>
    %7 = stablehlo.custom_call @foo(%1, %1) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=24, j=24, k=6} permutation={k}, custom>} : (tensor<24x24x6xbf16>, tensor<24x24x6xbf16>) -> tensor<24x24x6xbf16>
    %8 = stablehlo.dot_general %5, %4, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2x4xf32>, tensor<2x2x4xf32>) -> tensor<2x4x4xf32>
    %9 = stablehlo.reshape %7 : (tensor<24x24x6xbf16>) -> tensor<24x24x3x2xbf16>
    sdy.sharding_group %3 group_id=0 : tensor<12x4xf32>
    sdy.sharding_group %arg4 group_id=0 : tensor<12x4xf32>
    return %8, %9, %1 : tensor<2x4x4xf32>, tensor<24x24x3x2xbf16>, tensor<24x24x6xbf16>
  }
}
