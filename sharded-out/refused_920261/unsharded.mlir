module {

func.func public @main(%arg0: tensor<4xi8>, %arg1: tensor<3xi8>, %arg2: tensor<4xi8>, %arg3: tensor<8x1x3xui32>) -> (tensor<4xi8>, tensor<12x3xi8>, tensor<8x3xi8>, tensor<4xi8>, tensor<4xi8>, tensor<12x4xi8>, tensor<12x8x3xi8>, tensor<12x4xi8>, tensor<12x4xi8>) {
%v1 = "stablehlo.constant"() <{value = dense<1> : tensor<i8>}> : () -> (tensor<i8>)
%v3 = "stablehlo.reduce_window"(%arg0, %v1) <{base_dilations = array<i64: 1>, padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 4>, window_strides = array<i64: 1>}> ({
^bb0(%l2_0: tensor<i8>, %r2_0: tensor<i8>):
%s2_0 = "stablehlo.and"(%l2_0, %r2_0) : (tensor<i8>, tensor<i8>) -> tensor<i8>
"stablehlo.return"(%s2_0) : (tensor<i8>) -> ()
}) : (tensor<4xi8>, tensor<i8>) -> (tensor<4xi8>)
%v4 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xi8>) -> (tensor<12x3xi8>)
%v5 = "stablehlo.gather"(%arg0, %arg3) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<4xi8>, tensor<8x1x3xui32>) -> (tensor<8x3xi8>)
%v10 = "stablehlo.composite"(%arg0) <{name = "my.op", decomposition = @f0, version = 1 : i32}> : (tensor<4xi8>) -> (tensor<4xi8>)
%v11 = "stablehlo.broadcast_in_dim"(%v3) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xi8>) -> (tensor<12x4xi8>)
%v12 = "stablehlo.optimization_barrier"(%v11) : (tensor<12x4xi8>) -> tensor<12x4xi8>
%v13 = "stablehlo.broadcast_in_dim"(%v5) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x3xi8>) -> (tensor<12x8x3xi8>)
%v14 = "stablehlo.optimization_barrier"(%v13) : (tensor<12x8x3xi8>) -> tensor<12x8x3xi8>
%v15 = "stablehlo.broadcast_in_dim"(%v10) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xi8>) -> (tensor<12x4xi8>)
%v16 = "stablehlo.optimization_barrier"(%v15) : (tensor<12x4xi8>) -> tensor<12x4xi8>
%v17 = "stablehlo.broadcast_in_dim"(%v10) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xi8>) -> (tensor<12x4xi8>)
%v18 = "stablehlo.optimization_barrier"(%v17) : (tensor<12x4xi8>) -> tensor<12x4xi8>
return %v3, %v4, %v5, %v10, %v3, %v12, %v14, %v16, %v18 : tensor<4xi8>, tensor<12x3xi8>, tensor<8x3xi8>, tensor<4xi8>, tensor<4xi8>, tensor<12x4xi8>, tensor<12x8x3xi8>, tensor<12x4xi8>, tensor<12x4xi8>
}
func.func private @f0(%p_f0: tensor<4xi8>) -> tensor<4xi8> {
%v6 = "stablehlo.compare"(%p_f0, %p_f0) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xi8>, tensor<4xi8>) -> (tensor<4xi1>)
%v7 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> (tensor<i1>)
%v8 = "stablehlo.select"(%v7, %p_f0, %p_f0) : (tensor<i1>, tensor<4xi8>, tensor<4xi8>) -> (tensor<4xi8>)
%v9 = "stablehlo.optimization_barrier"(%p_f0) : (tensor<4xi8>) -> tensor<4xi8>
return %v9 : tensor<4xi8>
}
}
