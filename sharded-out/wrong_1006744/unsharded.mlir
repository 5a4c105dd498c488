module {


func.func public @main(%arg0: tensor<12xi32>, %arg1: tensor<3x4xi32>, %arg2: tensor<12xi32>, %arg3: tensor<i32>, %arg4: tensor<8x12xi1>) -> (tensor<12xi32>, tensor<12xi16>, tensor<8xi1>, tensor<1x3xi32>, tensor<1x3xi32>) {
%v1 = "stablehlo.compare"(%arg2, %arg0) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi1>)
%v2 = "stablehlo.select"(%v1, %arg2, %arg0) : (tensor<12xi1>, tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>)
%v3 = "stablehlo.or"(%arg1, %arg1) : (tensor<3x4xi32>, tensor<3x4xi32>) -> (tensor<3x4xi32>)
%v4 = "stablehlo.gather"(%arg0, %arg3) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<12xi32>, tensor<i32>) -> (tensor<i32>)
%v5 = "stablehlo.convert"(%arg0) : (tensor<12xi32>) -> (tensor<12xi16>)
%v6 = "stablehlo.dot_general"(%v1, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}> : (tensor<12xi1>, tensor<8x12xi1>) -> (tensor<8xi1>)
%v7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v9 = "stablehlo.reduce_window"(%v3, %v7) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 3>}> ({
^bb0(%l8_0: tensor<i32>, %r8_0: tensor<i32>):
%s8_0 = "stablehlo.or"(%l8_0, %r8_0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%s8_0) : (tensor<i32>) -> ()
}) : (tensor<3x4xi32>, tensor<i32>) -> (tensor<3x1xi32>)
%v10 = "stablehlo.optimization_barrier"(%v4) : (tensor<i32>) -> tensor<i32>
%v11 = "stablehlo.transpose"(%v9) <{permutation = array<i64: 1, 0>}> : (tensor<3x1xi32>) -> (tensor<1x3xi32>)
return %v2, %v5, %v6, %v11, %v11 : tensor<12xi32>, tensor<12xi16>, tensor<8xi1>, tensor<1x3xi32>, tensor<1x3xi32>
}
}
