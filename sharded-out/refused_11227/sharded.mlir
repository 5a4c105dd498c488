module {
sdy.mesh @mesh = <["x"=2, "y"=6]>
sdy.mesh @other = <["a"=4, "b"=3]>
func.func public @main(%arg0: tensor<8x3xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)3, ?}]>}, %arg1: tensor<8x3xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}], replicated={"y":(2)3}>}, %arg2: tensor<i8>, %arg3: tensor<i8> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg4: tensor<i8> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg5: tensor<8x3xf8E4M3FN> {sdy.sharding = #sdy.sharding<@other, [{"a":(2)2}, {"b", "a":(1)2}]>}, %arg6: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg7: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg8: tensor<6x5x1x1xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)3, "y":(1)2}, {}, {}, {}]>}, %arg9: tensor<ui8> {sdy.sharding = #sdy.sharding<@other, []>}, %arg10: tensor<ui8> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg11: tensor<ui8>, %arg12: tensor<ui8>) -> (tensor<4x3xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)3}, {?}], replicated={"x"}>}, tensor<8x3x6x1x1xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}, {}]>}, tensor<6x1x1x1xi1>, tensor<8x6x1x1xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(3)2}, {"x"}, {"y":(1)3}, {}]>}, tensor<8x3xf8E4M3FN>) {
%v1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"a"}, {}, {}, {}, {}]>]>} : (tensor<8x3xf8E4M3FN>) -> (tensor<8x3x6x1x1xf8E4M3FN>)
%v2 = sdy.sharding_constraint %v1 <@mesh, [{}, {"y":(2)3}, {}, {"x"}, {}]> : tensor<8x3x6x1x1xf8E4M3FN>
%v3 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f8E4M3FN>}> : () -> (tensor<f8E4M3FN>)
%v5 = "stablehlo.reduce"(%v2, %v3) <{dimensions = array<i64: 1>}> ({
^bb0(%l4_0: tensor<f8E4M3FN>, %r4_0: tensor<f8E4M3FN>):
%s4_0 = "stablehlo.add"(%l4_0, %r4_0) : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
"stablehlo.return"(%s4_0) : (tensor<f8E4M3FN>) -> ()
}) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x"}, {}, {}]>]>} : (tensor<8x3x6x1x1xf8E4M3FN>, tensor<f8E4M3FN>) -> (tensor<8x6x1x1xf8E4M3FN>)
%v6 = sdy.sharding_constraint %v5 <@mesh, [{"y":(1)2}, {"y":(2)3}, {}, {}]> : tensor<8x6x1x1xf8E4M3FN>
%v7 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f8E4M3FN>}> : () -> (tensor<f8E4M3FN>)
%v9 = "stablehlo.reduce_window"(%arg0, %v7) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 2]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 2, 1>}> ({
^bb0(%l8_0: tensor<f8E4M3FN>, %r8_0: tensor<f8E4M3FN>):
%s8_0 = "stablehlo.add"(%l8_0, %r8_0) : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
"stablehlo.return"(%s8_0) : (tensor<f8E4M3FN>) -> ()
}) : (tensor<8x3xf8E4M3FN>, tensor<f8E4M3FN>) -> (tensor<4x3xf8E4M3FN>)
%v10 = "stablehlo.reverse"(%v1) <{dimensions = array<i64: 2>}> : (tensor<8x3x6x1x1xf8E4M3FN>) -> (tensor<8x3x6x1x1xf8E4M3FN>)
%v11 = "stablehlo.constant"() <{value = dense<-1> : tensor<i8>}> : () -> (tensor<i8>)
%v12 = "stablehlo.dynamic_slice"(%v5, %arg2, %arg3, %v11, %arg4) <{slice_sizes = array<i64: 6, 1, 1, 1>}> : (tensor<8x6x1x1xf8E4M3FN>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>) -> (tensor<6x1x1x1xf8E4M3FN>)
%v13 = "stablehlo.dynamic_slice"(%arg5, %arg6, %arg7) <{slice_sizes = array<i64: 8, 3>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : (tensor<8x3xf8E4M3FN>, tensor<i32>, tensor<i32>) -> (tensor<8x3xf8E4M3FN>)
%v14 = sdy.reshard %v13 <@mesh, [{"y", "x", ?}, {}]> : tensor<8x3xf8E4M3FN>
%v15 = "stablehlo.is_finite"(%v12) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {}, {}]>]>} : (tensor<6x1x1x1xf8E4M3FN>) -> (tensor<6x1x1x1xi1>)
%v16 = "stablehlo.dynamic_update_slice"(%v6, %arg8, %arg9, %arg10, %arg11, %arg12) : (tensor<8x6x1x1xf8E4M3FN>, tensor<6x5x1x1xf8E4M3FN>, tensor<ui8>, tensor<ui8>, tensor<ui8>, tensor<ui8>) -> (tensor<8x6x1x1xf8E4M3FN>)
return %v9, %v10, %v15, %v16, %v14 : tensor<4x3xf8E4M3FN>, tensor<8x3x6x1x1xf8E4M3FN>, tensor<6x1x1x1xi1>, tensor<8x6x1x1xf8E4M3FN>, tensor<8x3xf8E4M3FN>
}
}
