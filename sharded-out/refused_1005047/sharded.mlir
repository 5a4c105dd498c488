module {
sdy.mesh @mesh = <["x"=2, "y"=4, "z"=1]>
sdy.mesh @other = <["a"=2, "b"=2, "c"=2]>
func.func public @main(%arg0: tensor<6xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}], replicated={"z"}>}, %arg1: tensor<1xi16> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"z"}>}, %arg2: tensor<12xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}], replicated={"x"}>}) -> (tensor<12xi16> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x"}]>}) {
%v1 = "stablehlo.gather"(%arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<1xi16>, tensor<12xi32>) -> (tensor<12xi16>)
%v2 = sdy.sharding_constraint %v1 <@other, [{"a", "c"}]> : tensor<12xi16>
return %v1 : tensor<12xi16>
}
}
