module {
sdy.mesh @mesh = <["x"=3]>
func.func public @main(%arg0: tensor<3xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<2xui64> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> (tensor<2xui64> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<3xf16>, tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
%v1 = "stablehlo.reshape"(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<3xf16>) -> (tensor<1x3xf16>)
%v2 = sdy.sharding_constraint %v1 <@mesh, [{}, {"x"}]> : tensor<1x3xf16>
%v3 = sdy.sharding_constraint %arg0 <@mesh, [{}]> : tensor<3xf16>
%v4:2 = "stablehlo.rng_bit_generator"(%arg1) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xi32>)
%v5 = "stablehlo.constant"() <{value = dense<-1.0> : tensor<f16>}> : () -> (tensor<f16>)
%v7 = "stablehlo.reduce_window"(%arg0, %v5) <{base_dilations = array<i64: 1>, padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
^bb0(%l6_0: tensor<f16>, %r6_0: tensor<f16>):
%s6_0 = "stablehlo.maximum"(%r6_0, %l6_0) : (tensor<f16>, tensor<f16>) -> tensor<f16>
"stablehlo.return"(%s6_0) : (tensor<f16>) -> ()
}) : (tensor<3xf16>, tensor<f16>) -> (tensor<3xf16>)
%v9 = "stablehlo.compare"(%v7, %v7) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<3xf16>, tensor<3xf16>) -> (tensor<3xi1>)
%v10 = "stablehlo.constant"() <{value = dense<1.0> : tensor<3xf16>}> : () -> (tensor<3xf16>)
%v11 = "stablehlo.select"(%v9, %v10, %v7) : (tensor<3xi1>, tensor<3xf16>, tensor<3xf16>) -> (tensor<3xf16>)
%v12 = "stablehlo.sort"(%v11) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%l8_0: tensor<f16>, %r8_0: tensor<f16>):
%c8 = "stablehlo.compare"(%l8_0, %r8_0) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<f16>, tensor<f16>) -> tensor<i1>
"stablehlo.return"(%c8) : (tensor<i1>) -> ()
}) : (tensor<3xf16>) -> (tensor<3xf16>)
return %v4#0, %v4#1, %v12, %v4#1 : tensor<2xui64>, tensor<4xi32>, tensor<3xf16>, tensor<4xi32>
}
}
