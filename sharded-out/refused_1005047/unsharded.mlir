module {


func.func public @main(%arg0: tensor<6xbf16>, %arg1: tensor<1xi16>, %arg2: tensor<12xi32>) -> (tensor<12xi16>) {
%v1 = "stablehlo.gather"(%arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<1xi16>, tensor<12xi32>) -> (tensor<12xi16>)
%v2 = "stablehlo.optimization_barrier"(%v1) : (tensor<12xi16>) -> tensor<12xi16>
return %v1 : tensor<12xi16>
}
}
