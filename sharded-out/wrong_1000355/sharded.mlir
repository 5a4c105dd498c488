module {
sdy.mesh @mesh = <["x"=4, "y"=2]>
sdy.mesh @other = <["a"=2, "b"=2, "c"=2]>
func.func public @main(%arg0: tensor<8xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}, %arg1: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<8xi1>, tensor<8xi1>) {
%v1 = "stablehlo.dynamic_update_slice"(%arg0, %arg0, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<8xi1>, tensor<8xi1>, tensor<i32>) -> (tensor<8xi1>)
%v2 = sdy.sharding_constraint %arg0 <@other, [{"c"}]> : tensor<8xi1>
%v3 = sdy.reshard %v2 <@mesh, [{"x", "y"}]> : tensor<8xi1>
return %v1, %v3 : tensor<8xi1>, tensor<8xi1>
}
}
