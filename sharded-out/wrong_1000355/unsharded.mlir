module {


func.func public @main(%arg0: tensor<8xi1>, %arg1: tensor<i32>) -> (tensor<8xi1>, tensor<8xi1>) {
%v1 = "stablehlo.dynamic_update_slice"(%arg0, %arg0, %arg1) : (tensor<8xi1>, tensor<8xi1>, tensor<i32>) -> (tensor<8xi1>)
%v2 = "stablehlo.optimization_barrier"(%arg0) : (tensor<8xi1>) -> tensor<8xi1>
%v3 = "stablehlo.optimization_barrier"(%v2) : (tensor<8xi1>) -> tensor<8xi1>
return %v1, %v3 : tensor<8xi1>, tensor<8xi1>
}
}
