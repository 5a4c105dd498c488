module {

func.func public @main(%arg0: tensor<24xi32>, %arg1: tensor<3xi32>, %arg2: tensor<24x24xi32>) -> (tensor<24x12x2xi32>, tensor<24x24xi32>) {
%v1 = "stablehlo.transpose"(%arg2) <{permutation = array<i64: 1, 0>}> : (tensor<24x24xi32>) -> (tensor<24x24xi32>)
%v2 = "stablehlo.reshape"(%v1) : (tensor<24x24xi32>) -> (tensor<24x12x2xi32>)
%v3 = "stablehlo.optimization_barrier"(%v1) : (tensor<24x24xi32>) -> tensor<24x24xi32>
return %v2, %v1 : tensor<24x12x2xi32>, tensor<24x24xi32>
}
}
