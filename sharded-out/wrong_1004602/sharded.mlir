module {
sdy.mesh @mesh = <["x"=8]>
sdy.mesh @other = <["a"=2, "b"=4]>
func.func public @main(%arg0: tensor<1x4xi16> {sdy.sharding = #sdy.sharding<@other, [{?}, {?}]>}, %arg1: tensor<24x16xi16> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>}, %arg2: tensor<12x2x16xi16> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {"x", ?}p1]>}, %arg3: tensor<2x16xi16> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}, %arg4: tensor<1x2x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}], replicated={"x"}>}, %arg5: tensor<8x12x1x16xi16> {sdy.sharding = #sdy.sharding<@other, [{?}, {}, {?}, {"b", ?}p0], replicated={"a"}>}, %arg6: tensor<1x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}p1]>}) -> (tensor<12x2x16xi16>, tensor<16x4x19xi16>, tensor<4x1xi16>, tensor<12x2x16xi16>, tensor<12x2x16xi16> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {?}]>}) {
%v2 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%l1_0: tensor<i16>, %r1_0: tensor<i16>):
%c1 = "stablehlo.compare"(%l1_0, %r1_0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i16>, tensor<i16>) -> tensor<i1>
"stablehlo.return"(%c1) : (tensor<i1>) -> ()
}) : (tensor<1x4xi16>) -> (tensor<1x4xi16>)
%v3 = sdy.sharding_constraint %v2 <@mesh, [{?}, {?}]> : tensor<1x4xi16>
%v5 = "stablehlo.scatter"(%arg2, %arg4, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [0], input_batching_dims = [1, 2], scatter_indices_batching_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>, unique_indices = false}> ({
^bb0(%l4_0: tensor<i16>, %r4_0: tensor<i16>):
%s4_0 = "stablehlo.add"(%l4_0, %r4_0) : (tensor<i16>, tensor<i16>) -> tensor<i16>
"stablehlo.return"(%s4_0) : (tensor<i16>) -> ()
}) : (tensor<12x2x16xi16>, tensor<1x2x16xi32>, tensor<2x16xi16>) -> (tensor<12x2x16xi16>)
%v6 = "stablehlo.constant"() <{value = dense<1> : tensor<i16>}> : () -> (tensor<i16>)
%v7 = "stablehlo.pad"(%v5, %v6) <{edge_padding_high = array<i64: 3, 0, 0>, edge_padding_low = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>}> : (tensor<12x2x16xi16>, tensor<i16>) -> (tensor<18x2x16xi16>)
%v8 = "stablehlo.slice"(%v7) <{limit_indices = array<i64: 16, 2, 16>, start_indices = array<i64: 4, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<18x2x16xi16>) -> (tensor<12x2x16xi16>)
%v9 = "stablehlo.slice"(%v7) <{limit_indices = array<i64: 14, 2, 16>, start_indices = array<i64: 2, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<18x2x16xi16>) -> (tensor<12x2x16xi16>)
%v10 = sdy.sharding_constraint %v9 <@mesh, [{?}, {?}, {?}]> : tensor<12x2x16xi16>
%v11 = "stablehlo.constant"() <{value = dense<2> : tensor<i16>}> : () -> (tensor<i16>)
%v12 = "stablehlo.pad"(%v9, %v11) <{edge_padding_high = array<i64: 4, 0, 0>, edge_padding_low = array<i64: 0, 1, 3>, interior_padding = array<i64: 0, 1, 0>}> : (tensor<12x2x16xi16>, tensor<i16>) -> (tensor<16x4x19xi16>)
%v13 = "stablehlo.transpose"(%v2) <{permutation = array<i64: 1, 0>}> : (tensor<1x4xi16>) -> (tensor<4x1xi16>)
%v15 = "stablehlo.scatter"(%v10, %arg6, %arg5) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], inserted_window_dims = [], scatter_dims_to_operand_dims = [1], index_vector_dim = 0>, unique_indices = false}> ({
^bb0(%l14_0: tensor<i16>, %r14_0: tensor<i16>):
%s14_0 = "stablehlo.maximum"(%l14_0, %r14_0) : (tensor<i16>, tensor<i16>) -> tensor<i16>
"stablehlo.return"(%s14_0) : (tensor<i16>) -> ()
}) : (tensor<12x2x16xi16>, tensor<1x8xi32>, tensor<8x12x1x16xi16>) -> (tensor<12x2x16xi16>)
return %v8, %v12, %v13, %v15, %v15 : tensor<12x2x16xi16>, tensor<16x4x19xi16>, tensor<4x1xi16>, tensor<12x2x16xi16>, tensor<12x2x16xi16>
}
}
