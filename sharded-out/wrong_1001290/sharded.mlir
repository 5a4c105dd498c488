module {
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
sdy.mesh @other = <["a"=8]>
func.func public @main(%arg0: tensor<16x4xi32>, %arg1: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x"}]>}, %arg2: tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x"}]>}, %arg3: tensor<1x16xi32> {sdy.sharding = #sdy.sharding<@other, [{}, {"a"}]>}) -> (tensor<16x4xi32>, tensor<16x4xi32>) {
%v2 = "stablehlo.scatter"(%arg0, %arg3, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 0>, unique_indices = false}> ({
^bb0(%l1_0: tensor<i32>, %r1_0: tensor<i32>):
%s1_0 = "stablehlo.add"(%l1_0, %r1_0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%s1_0) : (tensor<i32>) -> ()
}) : (tensor<16x4xi32>, tensor<1x16xi32>, tensor<16xi32>) -> (tensor<16x4xi32>)
return %v2, %v2 : tensor<16x4xi32>, tensor<16x4xi32>
}
}
