module {

func.func public @main(%arg0: tensor<12x3xi2>, %arg1: tensor<12x6x4xi2>, %arg2: tensor<3xi2>, %arg3: tensor<3xi2>, %arg4: tensor<3x1xi32>, %arg5: tensor<4x3x4xi2>, %arg6: tensor<4x3x4xi2>, %arg7: tensor<4x1x2xi32>, %arg8: tensor<i32>, %arg9: tensor<5xi2>, %arg10: tensor<3x12xi2>, %arg11: tensor<2xi2>, %arg12: tensor<12x2xi2>, %arg13: tensor<i8>, %arg14: tensor<i8>) -> (tensor<3xi2>, tensor<3xi2>, tensor<3xi2>, tensor<5xi2>, tensor<12x3xi2>) {
%v2 = "stablehlo.scatter"(%arg2, %arg4, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
^bb0(%l1_0: tensor<i2>, %r1_0: tensor<i2>):
"stablehlo.return"(%r1_0) : (tensor<i2>) -> ()
}) : (tensor<3xi2>, tensor<3x1xi32>, tensor<3xi2>) -> (tensor<3xi2>)
%v3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v4:4 = "stablehlo.while"(%v3, %v2, %v2, %v2) ({
^bb0(%q4: tensor<i32>, %u4_0: tensor<3xi2>, %u4_1: tensor<3xi2>, %u4_2: tensor<3xi2>):
%m4 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
%t4 = "stablehlo.compare"(%q4, %m4) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%t4) : (tensor<i1>) -> ()
}, {
^bb0(%n4: tensor<i32>, %w4_0: tensor<3xi2>, %w4_1: tensor<3xi2>, %w4_2: tensor<3xi2>):
%v5 = "stablehlo.constant"() <{value = dense<1> : tensor<i2>}> : () -> (tensor<i2>)
%v6 = "stablehlo.constant"() <{value = dense<0> : tensor<i2>}> : () -> (tensor<i2>)
%v8:2 = "stablehlo.reduce_window"(%arg5, %arg6, %v5, %v6) <{base_dilations = array<i64: 1, 1, 2>, padding = dense<[[0, 0], [0, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2>, window_strides = array<i64: 1, 1, 1>}> ({
^bb0(%l7_0: tensor<i2>, %l7_1: tensor<i2>, %r7_0: tensor<i2>, %r7_1: tensor<i2>):
%s7_0 = "stablehlo.and"(%r7_0, %l7_0) : (tensor<i2>, tensor<i2>) -> tensor<i2>
%s7_1 = "stablehlo.and"(%l7_1, %r7_1) : (tensor<i2>, tensor<i2>) -> tensor<i2>
"stablehlo.return"(%s7_0, %s7_1) : (tensor<i2>, tensor<i2>) -> ()
}) : (tensor<4x3x4xi2>, tensor<4x3x4xi2>, tensor<i2>, tensor<i2>) -> (tensor<4x3x6xi2>, tensor<4x3x6xi2>)
%v9 = "stablehlo.gather"(%arg1, %arg7) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0, 1], operand_batching_dims = [2], start_indices_batching_dims = [0], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<12x6x4xi2>, tensor<4x1x2xi32>) -> (tensor<4x1xi2>)
%v10 = "stablehlo.constant"() <{value = dense<0> : tensor<i2>}> : () -> (tensor<i2>)
%v11 = "stablehlo.pad"(%v8#1, %v10) <{edge_padding_high = array<i64: 0, 1, -1>, edge_padding_low = array<i64: 2, -1, 0>, interior_padding = array<i64: 0, 0, 0>}> : (tensor<4x3x6xi2>, tensor<i2>) -> (tensor<6x3x5xi2>)
%o4 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%p4 = "stablehlo.add"(%n4, %o4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%p4, %w4_0, %w4_1, %w4_2) : (tensor<i32>, tensor<3xi2>, tensor<3xi2>, tensor<3xi2>) -> ()
}) : (tensor<i32>, tensor<3xi2>, tensor<3xi2>, tensor<3xi2>) -> (tensor<i32>, tensor<3xi2>, tensor<3xi2>, tensor<3xi2>)
%v12 = "stablehlo.slice"(%v4#3) <{limit_indices = array<i64: 3>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<3xi2>) -> (tensor<2xi2>)
%v13 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 0, 1>}> : (tensor<12x3xi2>) -> (tensor<12x3xi2>)
%v14 = "stablehlo.transpose"(%v13) <{permutation = array<i64: 0, 1>}> : (tensor<12x3xi2>) -> (tensor<12x3xi2>)
%v26 = "stablehlo.case"(%arg8) ({
%v15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v16:3 = "stablehlo.while"(%v15, %v14, %v12) ({
^bb0(%q16: tensor<i32>, %u16_0: tensor<12x3xi2>, %u16_1: tensor<2xi2>):
%m16 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%t16 = "stablehlo.compare"(%q16, %m16) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%t16) : (tensor<i1>) -> ()
}, {
^bb0(%n16: tensor<i32>, %w16_0: tensor<12x3xi2>, %w16_1: tensor<2xi2>):
%v17 = "stablehlo.constant"() <{value = dense<1> : tensor<i2>}> : () -> (tensor<i2>)
%v18 = "stablehlo.pad"(%arg10, %v17) <{edge_padding_high = array<i64: -1, 1>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 2, 2>}> : (tensor<3x12xi2>, tensor<i2>) -> (tensor<7x35xi2>)
%v19 = "stablehlo.constant"() <{value = dense<1> : tensor<i2>}> : () -> (tensor<i2>)
%v21 = "stablehlo.reduce"(%w16_1, %v19) <{dimensions = array<i64: 0>}> ({
^bb0(%l20_0: tensor<i2>, %r20_0: tensor<i2>):
%s20_0 = "stablehlo.multiply"(%l20_0, %r20_0) : (tensor<i2>, tensor<i2>) -> tensor<i2>
"stablehlo.return"(%s20_0) : (tensor<i2>) -> ()
}) : (tensor<2xi2>, tensor<i2>) -> (tensor<i2>)
%o16 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%p16 = "stablehlo.add"(%n16, %o16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%p16, %w16_0, %w16_1) : (tensor<i32>, tensor<12x3xi2>, tensor<2xi2>) -> ()
}) : (tensor<i32>, tensor<12x3xi2>, tensor<2xi2>) -> (tensor<i32>, tensor<12x3xi2>, tensor<2xi2>)
%v22 = "stablehlo.optimization_barrier"(%v12) : (tensor<2xi2>) -> tensor<2xi2>
%v23 = "stablehlo.broadcast_in_dim"(%v12) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xi2>) -> (tensor<2xi2>)
"stablehlo.return"(%arg9) : (tensor<5xi2>) -> ()
}, {
%v24 = "stablehlo.dot"(%arg9, %arg9) : (tensor<5xi2>, tensor<5xi2>) -> (tensor<i2>)
"stablehlo.return"(%arg9) : (tensor<5xi2>) -> ()
}, {
%v25 = "stablehlo.broadcast_in_dim"(%v12) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xi2>) -> (tensor<2xi2>)
"stablehlo.return"(%arg9) : (tensor<5xi2>) -> ()
}) : (tensor<i32>) -> (tensor<5xi2>)
%v27 = "stablehlo.dynamic_update_slice"(%v14, %arg12, %arg13, %arg14) : (tensor<12x3xi2>, tensor<12x2xi2>, tensor<i8>, tensor<i8>) -> (tensor<12x3xi2>)
%v28 = sdy.named_computation<"n29">(%v27) (%p29: tensor<12x3xi2>) {
%v30 = "stablehlo.convert"(%p29) : (tensor<12x3xi2>) -> (tensor<12x3xcomplex<f32>>)
%v31 = "stablehlo.broadcast_in_dim"(%p29) <{broadcast_dimensions = array<i64: 1, 0>}> : (tensor<12x3xi2>) -> (tensor<3x12xi2>)
%v32 = "stablehlo.reverse"(%v30) <{dimensions = array<i64: 0, 1>}> : (tensor<12x3xcomplex<f32>>) -> (tensor<12x3xcomplex<f32>>)
sdy.return %p29 : tensor<12x3xi2>
} : (tensor<12x3xi2>) -> tensor<12x3xi2>
%v33 = "stablehlo.optimization_barrier"(%v28) : (tensor<12x3xi2>) -> tensor<12x3xi2>
return %v4#1, %v4#2, %v4#3, %v26, %v14 : tensor<3xi2>, tensor<3xi2>, tensor<3xi2>, tensor<5xi2>, tensor<12x3xi2>
}
}
