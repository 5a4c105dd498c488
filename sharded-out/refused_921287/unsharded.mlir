module {

func.func public @main(%arg0: tensor<6x16xi8>, %arg1: tensor<4xi8>, %arg2: tensor<8xf32>, %arg3: tensor<16xf32>) -> (tensor<4xi64>, tensor<4xi64>) {
%v1 = "stablehlo.convert"(%arg1) : (tensor<4xi8>) -> (tensor<4xi64>)
%v2 = "stablehlo.shift_left"(%v1, %v1) : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>)
%v3 = "stablehlo.optimization_barrier"(%v2) : (tensor<4xi64>) -> tensor<4xi64>
%v4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
%v5:2 = "stablehlo.while"(%v4, %v1) ({
^bb0(%q5: tensor<i32>, %u5_0: tensor<4xi64>):
%m5 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
%t5 = "stablehlo.compare"(%q5, %m5) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%t5) : (tensor<i1>) -> ()
}, {
^bb0(%n5: tensor<i32>, %w5_0: tensor<4xi64>):
%v6 = "stablehlo.reshape"(%v1) : (tensor<4xi64>) -> (tensor<4xi64>)
%v7 = "stablehlo.optimization_barrier"(%v6) : (tensor<4xi64>) -> tensor<4xi64>
%v8 = "stablehlo.optimization_barrier"(%arg3) : (tensor<16xf32>) -> tensor<16xf32>
%o5 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%p5 = "stablehlo.add"(%n5, %o5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%p5, %v7) : (tensor<i32>, tensor<4xi64>) -> ()
}) : (tensor<i32>, tensor<4xi64>) -> (tensor<i32>, tensor<4xi64>)
return %v5#1, %v5#1 : tensor<4xi64>, tensor<4xi64>
}
}
