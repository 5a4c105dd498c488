module {
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
sdy.mesh @other = <["a"=4, "b"=2]>
func.func public @main(%arg0: tensor<12xi1> {sdy.sharding = #sdy.sharding<@other, [{"b"}], replicated={"a"}>}, %arg1: tensor<12x12xf4E2M1FN> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}p0, {"x"}p0]>}, %arg2: tensor<12xi1>, %arg3: tensor<8xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z", "y", ?}]>}, %arg4: tensor<4x12xf4E2M1FN>) -> (tensor<4x3xi1>, tensor<4x3xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}], replicated={"x"}>}, tensor<8x12xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}p0, {"x"}], replicated={"y"}>}) {
%v1 = "stablehlo.reshape"(%arg0) : (tensor<12xi1>) -> (tensor<4x3xi1>)
%v2 = sdy.reshard %v1 <@mesh, [{"y", "z", ?}p0, {}], replicated={"x"}> : tensor<4x3xi1>
%v4 = sdy.manual_computation(%arg2) in_shardings=[<@mesh, [{"z"}], replicated={"y"}>] out_shardings=[<@mesh, [{}], replicated={"y"}>] manual_axes={"y"} (%m3_0: tensor<12xi1>) {
%z3_0 = "stablehlo.not"(%m3_0) : (tensor<12xi1>) -> tensor<12xi1>
%z3_1 = "stablehlo.not"(%z3_0) : (tensor<12xi1>) -> tensor<12xi1>
%r3 = "stablehlo.not"(%z3_1) : (tensor<12xi1>) -> tensor<12xi1>
sdy.return %r3 : tensor<12xi1>
} : (tensor<12xi1>) -> tensor<12xi1>
%v6 = "stablehlo.sort"(%arg3) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%l5_0: tensor<i1>, %r5_0: tensor<i1>):
%c5 = "stablehlo.compare"(%l5_0, %r5_0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
"stablehlo.return"(%c5) : (tensor<i1>) -> ()
}) : (tensor<8xi1>) -> (tensor<8xi1>)
%v7 = sdy.sharding_constraint %v6 <@mesh, [{"y", "x", "z"}]> : tensor<8xi1>
%v8 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f4E2M1FN>}> : () -> (tensor<f4E2M1FN>)
%v9 = "stablehlo.pad"(%arg1, %v8) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<12x12xf4E2M1FN>, tensor<f4E2M1FN>) -> (tensor<12x12xf4E2M1FN>)
%v10 = "stablehlo.reshape"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : (tensor<12xi1>) -> (tensor<4x3xi1>)
%v11 = sdy.sharding_constraint %v10 <@mesh, [{"y", "x"}p0, {}]> : tensor<4x3xi1>
%v12 = "stablehlo.minimum"(%arg1, %arg1) : (tensor<12x12xf4E2M1FN>, tensor<12x12xf4E2M1FN>) -> (tensor<12x12xf4E2M1FN>)
%v13 = sdy.sharding_constraint %v12 <@mesh, [{"x"}, {}]> : tensor<12x12xf4E2M1FN>
%v14 = "stablehlo.multiply"(%v11, %v10) : (tensor<4x3xi1>, tensor<4x3xi1>) -> (tensor<4x3xi1>)
%v15 = "stablehlo.broadcast_in_dim"(%v4) <{broadcast_dimensions = array<i64: 1>}> : (tensor<12xi1>) -> (tensor<8x12xi1>)
%v16 = sdy.sharding_constraint %v15 <@mesh, [{"x", "y", "z"}, {}]> : tensor<8x12xi1>
return %v14, %v10, %v16 : tensor<4x3xi1>, tensor<4x3xi1>, tensor<8x12xi1>
}
}
