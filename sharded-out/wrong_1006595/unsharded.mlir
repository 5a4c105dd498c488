module {


func.func public @main(%arg0: tensor<12xi1>, %arg1: tensor<12x12xf4E2M1FN>, %arg2: tensor<12xi1>, %arg3: tensor<8xi1>, %arg4: tensor<4x12xf4E2M1FN>) -> (tensor<4x3xi1>, tensor<4x3xi1>, tensor<8x12xi1>) {
%v1 = "stablehlo.reshape"(%arg0) : (tensor<12xi1>) -> (tensor<4x3xi1>)
%v2 = "stablehlo.optimization_barrier"(%v1) : (tensor<4x3xi1>) -> tensor<4x3xi1>
%z3_0 = "stablehlo.not"(%arg2) : (tensor<12xi1>) -> tensor<12xi1>
%z3_1 = "stablehlo.not"(%z3_0) : (tensor<12xi1>) -> tensor<12xi1>
%v4 = "stablehlo.not"(%z3_1) : (tensor<12xi1>) -> tensor<12xi1>
%v6 = "stablehlo.sort"(%arg3) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%l5_0: tensor<i1>, %r5_0: tensor<i1>):
%c5 = "stablehlo.compare"(%l5_0, %r5_0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
"stablehlo.return"(%c5) : (tensor<i1>) -> ()
}) : (tensor<8xi1>) -> (tensor<8xi1>)
%v7 = "stablehlo.optimization_barrier"(%v6) : (tensor<8xi1>) -> tensor<8xi1>
%v8 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f4E2M1FN>}> : () -> (tensor<f4E2M1FN>)
%v9 = "stablehlo.pad"(%arg1, %v8) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<12x12xf4E2M1FN>, tensor<f4E2M1FN>) -> (tensor<12x12xf4E2M1FN>)
%v10 = "stablehlo.reshape"(%arg0) : (tensor<12xi1>) -> (tensor<4x3xi1>)
%v11 = "stablehlo.optimization_barrier"(%v10) : (tensor<4x3xi1>) -> tensor<4x3xi1>
%v12 = "stablehlo.minimum"(%arg1, %arg1) : (tensor<12x12xf4E2M1FN>, tensor<12x12xf4E2M1FN>) -> (tensor<12x12xf4E2M1FN>)
%v13 = "stablehlo.optimization_barrier"(%v12) : (tensor<12x12xf4E2M1FN>) -> tensor<12x12xf4E2M1FN>
%v14 = "stablehlo.multiply"(%v11, %v10) : (tensor<4x3xi1>, tensor<4x3xi1>) -> (tensor<4x3xi1>)
%v15 = "stablehlo.broadcast_in_dim"(%v4) <{broadcast_dimensions = array<i64: 1>}> : (tensor<12xi1>) -> (tensor<8x12xi1>)
%v16 = "stablehlo.optimization_barrier"(%v15) : (tensor<8x12xi1>) -> tensor<8x12xi1>
return %v14, %v10, %v16 : tensor<4x3xi1>, tensor<4x3xi1>, tensor<8x12xi1>
}
}
