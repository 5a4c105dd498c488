module {
sdy.mesh @mesh = <["x"=6, "y"=2], device_ids=[5, 1, 7, 11, 3, 9, 10, 0, 8, 6, 2, 4]>
func.func public @main(%arg0: tensor<6x5x24xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)3, ?}, {?}, {"y", "x":(1)2}]>}, %arg1: tensor<12x5x4xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", ?}, {?}, {?}]>}, %arg2: tensor<8x32xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x":(1)2, ?}]>}, %arg3: tensor<8x8xi64>, %arg4: tensor<i1>, %arg5: tensor<8x8x2xui16> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}, %arg6: tensor<8x2x1xi32>, %arg7: tensor<8x8xui16> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) -> (tensor<12x5x5x4xi64>, tensor<8x8xi64> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", "x":(3)2, ?}]>}, tensor<12x5x4xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {?}, {"y", ?}]>}) {
%v1 = "stablehlo.convolution"(%arg2, %arg3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 4 : i64, lhs_dilation = array<i64>, padding = dense<> : tensor<0x2xi64>, rhs_dilation = array<i64>, window_reversal = array<i1>, window_strides = array<i64>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x":(1)2, ?}]>]>} : (tensor<8x32xi64>, tensor<8x8xi64>) -> (tensor<8x8xi64>)
%v2 = "stablehlo.convert"(%v1) : (tensor<8x8xi64>) -> (tensor<8x8xui16>)
%v3 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0, 1, 3>}> : (tensor<12x5x4xi64>) -> (tensor<12x5x5x4xi64>)
%v4 = "stablehlo.not"(%v2) : (tensor<8x8xui16>) -> (tensor<8x8xui16>)
%v10 = "stablehlo.if"(%arg4) ({
%v6 = "stablehlo.scatter"(%v2, %arg6, %arg5) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
^bb0(%l5_0: tensor<ui16>, %r5_0: tensor<ui16>):
%s5_0 = "stablehlo.add"(%l5_0, %r5_0) : (tensor<ui16>, tensor<ui16>) -> tensor<ui16>
"stablehlo.return"(%s5_0) : (tensor<ui16>) -> ()
}) : (tensor<8x8xui16>, tensor<8x2x1xi32>, tensor<8x8x2xui16>) -> (tensor<8x8xui16>)
"stablehlo.return"(%arg1) : (tensor<12x5x4xi64>) -> ()
}, {
%v7 = "stablehlo.constant"() <{value = dense<1> : tensor<ui16>}> : () -> (tensor<ui16>)
%v9 = "stablehlo.reduce_window"(%v4, %v7) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 7], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
^bb0(%l8_0: tensor<ui16>, %r8_0: tensor<ui16>):
%s8_0 = "stablehlo.multiply"(%l8_0, %r8_0) : (tensor<ui16>, tensor<ui16>) -> tensor<ui16>
"stablehlo.return"(%s8_0) : (tensor<ui16>) -> ()
}) : (tensor<8x8xui16>, tensor<ui16>) -> (tensor<8x8xui16>)
"stablehlo.return"(%arg1) : (tensor<12x5x4xi64>) -> ()
}) : (tensor<i1>) -> (tensor<12x5x4xi64>)
%v11 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> (tensor<i64>)
%v12 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> (tensor<i64>)
%v13 = "stablehlo.clamp"(%v11, %v1, %v12) : (tensor<i64>, tensor<8x8xi64>, tensor<i64>) -> (tensor<8x8xi64>)
%v15 = sdy.manual_computation(%arg1, %v10) in_shardings=[<@mesh, [{"x"}, {}, {"y"}]>, <@mesh, [{"x"}, {}, {"y"}]>] out_shardings=[<@mesh, [{}, {}, {"y"}]>] manual_axes={"y"} (%m14_0: tensor<12x5x2xi64>, %m14_1: tensor<12x5x2xi64>) {
%t14 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
%y14 = "stablehlo.select"(%t14, %m14_0, %m14_1) : (tensor<i1>, tensor<12x5x2xi64>, tensor<12x5x2xi64>) -> tensor<12x5x2xi64>
%r14 = "stablehlo.abs"(%y14) : (tensor<12x5x2xi64>) -> tensor<12x5x2xi64>
sdy.return %r14 : tensor<12x5x2xi64>
} : (tensor<12x5x4xi64>, tensor<12x5x4xi64>) -> tensor<12x5x4xi64>
return %v3, %v13, %v15 : tensor<12x5x5x4xi64>, tensor<8x8xi64>, tensor<12x5x4xi64>
}
}
