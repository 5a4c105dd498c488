// Slices along the axes of another device order are not those that the sum was made along.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @turned = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>
// CHECK-LABEL: func.func @main
// CHECK-NOT: reduce_scatter
// CHECK: "stablehlo.all_reduce"{{.*}}dense<{{\[\[}}3, 0], [1, 2]]>
// CHECK: stablehlo.dynamic_slice
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@turned, [{}, {"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
