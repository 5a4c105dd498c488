module {
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func public @main(%arg0: tensor<24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<24x24xi32>) -> (tensor<24x12x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}, {"x"}]>}, tensor<24x24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}], replicated={"y"}>}) {
%v1 = "stablehlo.transpose"(%arg2) <{permutation = array<i64: 1, 0>}> : (tensor<24x24xi32>) -> (tensor<24x24xi32>)
%v2 = "stablehlo.reshape"(%v1) : (tensor<24x24xi32>) -> (tensor<24x12x2xi32>)
%v3 = sdy.sharding_constraint %v1 <@mesh, [{}, {}], unreduced={"y"}> : tensor<24x24xi32>
return %v2, %v1 : tensor<24x12x2xi32>, tensor<24x24xi32>
}
}
