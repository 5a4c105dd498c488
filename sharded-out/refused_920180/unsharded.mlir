module {

func.func public @main(%arg0: tensor<4xi32>, %arg1: tensor<8x4x4xi32>, %arg2: tensor<8x8x6x3xi32>, %arg3: tensor<1x6x2x4xi32>, %arg4: tensor<12xi32>, %arg5: tensor<4x8xi32>, %arg6: tensor<3x3x8x5xi32>, %arg7: tensor<i8>, %arg8: tensor<i8>, %arg9: tensor<i8>, %arg10: tensor<3x4x8x8xi32>, %arg11: tensor<1xi32>, %arg12: tensor<i1>, %arg13: tensor<2xui64>, %arg14: tensor<6x1xi32>, %arg15: tensor<2xi32>, %arg16: tensor<2x1xi32>) -> (tensor<16xi32>, tensor<3x4x8x8xi32>, tensor<8xi32>, tensor<1x4x8xi32>, tensor<3x4x8x8xi32>) {
%v1 = "stablehlo.convolution"(%arg2, %arg3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[1, 0, f, b]x[1, i, 0, o]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 3, 2>, padding = dense<[[1, 2], [1, 0]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: true, false>, window_strides = array<i64: 3, 2>}> : (tensor<8x8x6x3xi32>, tensor<1x6x2x4xi32>) -> (tensor<3x4x8x8xi32>)
%v4 = "func.call"(%v1) <{callee = @f0}> : (tensor<3x4x8x8xi32>) -> (tensor<3x4x8x8xi32>)
%v5 = "func.call"(%v4) <{callee = @f0}> : (tensor<3x4x8x8xi32>) -> (tensor<3x4x8x8xi32>)
%v6 = "stablehlo.negate"(%v5) : (tensor<3x4x8x8xi32>) -> (tensor<3x4x8x8xi32>)
%v7 = "stablehlo.optimization_barrier"(%v6) : (tensor<3x4x8x8xi32>) -> tensor<3x4x8x8xi32>
%v8 = "stablehlo.concatenate"(%arg0, %arg4) <{dimension = 0 : i64}> : (tensor<4xi32>, tensor<12xi32>) -> (tensor<16xi32>)
%v9 = "stablehlo.reshape"(%arg5) : (tensor<4x8xi32>) -> (tensor<1x4x8xi32>)
%v10 = "stablehlo.optimization_barrier"(%v9) : (tensor<1x4x8xi32>) -> tensor<1x4x8xi32>
%v11 = "stablehlo.constant"() <{value = dense<-1> : tensor<i8>}> : () -> (tensor<i8>)
%v12 = "stablehlo.dynamic_update_slice"(%v6, %arg6, %arg7, %arg8, %v11, %arg9) : (tensor<3x4x8x8xi32>, tensor<3x3x8x5xi32>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>) -> (tensor<3x4x8x8xi32>)
%v13 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> (tensor<i32>)
%v14 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> (tensor<i32>)
%v16:2 = "stablehlo.reduce"(%v4, %arg10, %v13, %v14) <{dimensions = array<i64: 0, 1, 3>}> ({
^bb0(%l15_0: tensor<i32>, %l15_1: tensor<i32>, %r15_0: tensor<i32>, %r15_1: tensor<i32>):
%s15_0 = "stablehlo.multiply"(%l15_0, %r15_0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
%s15_1 = "stablehlo.add"(%l15_1, %r15_1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%s15_0, %s15_1) : (tensor<i32>, tensor<i32>) -> ()
}) : (tensor<3x4x8x8xi32>, tensor<3x4x8x8xi32>, tensor<i32>, tensor<i32>) -> (tensor<8xi32>, tensor<8xi32>)
%v17 = "stablehlo.optimization_barrier"(%v16#1) : (tensor<8xi32>) -> tensor<8xi32>
%v18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v19:3 = "stablehlo.while"(%v18, %v10, %arg0) ({
^bb0(%q19: tensor<i32>, %u19_0: tensor<1x4x8xi32>, %u19_1: tensor<4xi32>):
%m19 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
%t19 = "stablehlo.compare"(%q19, %m19) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%t19) : (tensor<i1>) -> ()
}, {
^bb0(%n19: tensor<i32>, %w19_0: tensor<1x4x8xi32>, %w19_1: tensor<4xi32>):
%v20 = "stablehlo.optimization_barrier"(%w19_1) : (tensor<4xi32>) -> tensor<4xi32>
%v21 = "stablehlo.optimization_barrier"(%v20) : (tensor<4xi32>) -> tensor<4xi32>
%v22 = "stablehlo.transpose"(%w19_0) <{permutation = array<i64: 1, 2, 0>}> : (tensor<1x4x8xi32>) -> (tensor<4x8x1xi32>)
%v23 = "stablehlo.gather"(%w19_1, %arg11) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<1xi32>) -> (tensor<i32>)
%v24 = "stablehlo.transpose"(%w19_0) <{permutation = array<i64: 2, 1, 0>}> : (tensor<1x4x8xi32>) -> (tensor<8x4x1xi32>)
%v25 = "stablehlo.optimization_barrier"(%v21) : (tensor<4xi32>) -> tensor<4xi32>
%o19 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%p19 = "stablehlo.add"(%n19, %o19) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%p19, %w19_0, %v25) : (tensor<i32>, tensor<1x4x8xi32>, tensor<4xi32>) -> ()
}) : (tensor<i32>, tensor<1x4x8xi32>, tensor<4xi32>) -> (tensor<i32>, tensor<1x4x8xi32>, tensor<4xi32>)
%v51 = "stablehlo.if"(%arg12) ({
%v26 = "stablehlo.reshape"(%v17) : (tensor<8xi32>) -> (tensor<2x1x2x2xi32>)
%v27 = "stablehlo.remainder"(%v7, %v7) : (tensor<3x4x8x8xi32>, tensor<3x4x8x8xi32>) -> (tensor<3x4x8x8xi32>)
%v28 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v29:3 = "stablehlo.while"(%v28, %v19#2, %v7) ({
^bb0(%q29: tensor<i32>, %u29_0: tensor<4xi32>, %u29_1: tensor<3x4x8x8xi32>):
%m29 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
%t29 = "stablehlo.compare"(%q29, %m29) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%t29) : (tensor<i1>) -> ()
}, {
^bb0(%n29: tensor<i32>, %w29_0: tensor<4xi32>, %w29_1: tensor<3x4x8x8xi32>):
%v30 = "stablehlo.iota"() <{iota_dimension = 3 : i64}> : () -> (tensor<3x4x8x8xi32>)
%v31 = "stablehlo.constant"() <{value = dense<-2147483648> : tensor<i32>}> : () -> (tensor<i32>)
%v32 = "stablehlo.constant"() <{value = dense<1048576> : tensor<i32>}> : () -> (tensor<i32>)
%v34:2 = "stablehlo.reduce"(%w29_1, %v30, %v31, %v32) <{dimensions = array<i64: 3>}> ({
^bb0(%a33: tensor<i32>, %i33: tensor<i32>, %b33: tensor<i32>, %j33: tensor<i32>):
%g33 = "stablehlo.compare"(%a33, %b33) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
%e33 = "stablehlo.compare"(%a33, %b33) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
%l33 = "stablehlo.compare"(%i33, %j33) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
%n33 = "stablehlo.and"(%e33, %l33) : (tensor<i1>, tensor<i1>) -> tensor<i1>
%o33 = "stablehlo.or"(%g33, %n33) : (tensor<i1>, tensor<i1>) -> tensor<i1>
%x33 = "stablehlo.select"(%g33, %a33, %b33) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
%y33 = "stablehlo.select"(%o33, %i33, %j33) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%x33, %y33) : (tensor<i32>, tensor<i32>) -> ()
}) : (tensor<3x4x8x8xi32>, tensor<3x4x8x8xi32>, tensor<i32>, tensor<i32>) -> (tensor<3x4x8xi32>, tensor<3x4x8xi32>)
%v35 = "stablehlo.custom_call"(%w29_1) <{call_target_name = "LayoutConstraint"}> : (tensor<3x4x8x8xi32>) -> (tensor<3x4x8x8xi32>)
%v36 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v37 = "stablehlo.pad"(%v34#0, %v36) <{edge_padding_high = array<i64: 1, -1, 0>, edge_padding_low = array<i64: -1, 0, 0>, interior_padding = array<i64: 0, 0, 2>}> : (tensor<3x4x8xi32>, tensor<i32>) -> (tensor<3x3x22xi32>)
%v38 = "stablehlo.optimization_barrier"(%v37) : (tensor<3x3x22xi32>) -> tensor<3x3x22xi32>
%v39:2 = "stablehlo.rng_bit_generator"(%arg13) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<24x8xi32>)
%v40 = "stablehlo.optimization_barrier"(%v39#1) : (tensor<24x8xi32>) -> tensor<24x8xi32>
%o29 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%p29 = "stablehlo.add"(%n29, %o29) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%p29, %w29_0, %v35) : (tensor<i32>, tensor<4xi32>, tensor<3x4x8x8xi32>) -> ()
}) : (tensor<i32>, tensor<4xi32>, tensor<3x4x8x8xi32>) -> (tensor<i32>, tensor<4xi32>, tensor<3x4x8x8xi32>)
%v41 = "stablehlo.optimization_barrier"(%v29#2) : (tensor<3x4x8x8xi32>) -> tensor<3x4x8x8xi32>
%v42 = "stablehlo.optimization_barrier"(%v41) : (tensor<3x4x8x8xi32>) -> tensor<3x4x8x8xi32>
"stablehlo.return"(%v42) : (tensor<3x4x8x8xi32>) -> ()
}, {
%v43 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v44:2 = "stablehlo.while"(%v43, %v17) ({
^bb0(%q44: tensor<i32>, %u44_0: tensor<8xi32>):
%m44 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
%t44 = "stablehlo.compare"(%q44, %m44) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%t44) : (tensor<i1>) -> ()
}, {
^bb0(%n44: tensor<i32>, %w44_0: tensor<8xi32>):
%v45 = "stablehlo.transpose"(%v19#1) <{permutation = array<i64: 1, 0, 2>}> : (tensor<1x4x8xi32>) -> (tensor<4x1x8xi32>)
%v46 = "stablehlo.optimization_barrier"(%v45) : (tensor<4x1x8xi32>) -> tensor<4x1x8xi32>
%v47 = "stablehlo.gather"(%v45, %arg14) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 4, 1, 1>}> : (tensor<4x1x8xi32>, tensor<6x1xi32>) -> (tensor<4x1x6xi32>)
%v48 = "stablehlo.optimization_barrier"(%v47) : (tensor<4x1x6xi32>) -> tensor<4x1x6xi32>
%o44 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%p44 = "stablehlo.add"(%n44, %o44) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%p44, %w44_0) : (tensor<i32>, tensor<8xi32>) -> ()
}) : (tensor<i32>, tensor<8xi32>) -> (tensor<i32>, tensor<8xi32>)
%v50 = "stablehlo.scatter"(%v19#2, %arg16, %arg15) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
^bb0(%l49_0: tensor<i32>, %r49_0: tensor<i32>):
"stablehlo.return"(%r49_0) : (tensor<i32>) -> ()
}) : (tensor<4xi32>, tensor<2x1xi32>, tensor<2xi32>) -> (tensor<4xi32>)
"stablehlo.return"(%v7) : (tensor<3x4x8x8xi32>) -> ()
}) : (tensor<i1>) -> (tensor<3x4x8x8xi32>)
%v52 = "stablehlo.optimization_barrier"(%v51) : (tensor<3x4x8x8xi32>) -> tensor<3x4x8x8xi32>
%v53 = "stablehlo.optimization_barrier"(%v52) : (tensor<3x4x8x8xi32>) -> tensor<3x4x8x8xi32>
return %v8, %v12, %v16#0, %v19#1, %v7 : tensor<16xi32>, tensor<3x4x8x8xi32>, tensor<8xi32>, tensor<1x4x8xi32>, tensor<3x4x8x8xi32>
}
func.func private @f0(%p_f0: tensor<3x4x8x8xi32>) -> tensor<3x4x8x8xi32> {
%v2 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> (tensor<i32>)
%v3 = "stablehlo.optimization_barrier"(%p_f0) : (tensor<3x4x8x8xi32>) -> tensor<3x4x8x8xi32>
return %v3 : tensor<3x4x8x8xi32>
}
}
