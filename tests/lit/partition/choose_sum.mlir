// The parts of a sum are added where the next product needs them, and all devices would compute the
// same product with all of it: each takes a part of the rows instead, and what is left of those in
// the end is gathered.
// RUN: terrazzo partition %s | FileCheck %s
// RUN: terrazzo partition %s --as-propagated | FileCheck %s --check-prefix=SHARDY

sdy.mesh @mesh = <["x"=8]>

// CHECK-NOT: all_reduce
// CHECK: "stablehlo.reduce_scatter"
// CHECK: (tensor<4096x512xf32>) -> tensor<512x512xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
// CHECK: "stablehlo.all_gather"
// CHECK-SAME: (tensor<512xf32>) -> tensor<4096xf32>

// SHARDY: "stablehlo.all_reduce"
// SHARDY: stablehlo.dot_general {{.*}} : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>

func.func @main(%a: tensor<4096x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<2048x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %c: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4096x2048xf32>, tensor<2048x512xf32>) -> tensor<4096x512xf32>
  %1 = stablehlo.tanh %0 : tensor<4096x512xf32>
  %2 = stablehlo.dot_general %1, %c, contracting_dims = [1] x [0] : (tensor<4096x512xf32>, tensor<512x512xf32>) -> tensor<4096x512xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x512xf32>, tensor<f32>) -> tensor<4096xf32>
  return %3 : tensor<4096xf32>
}
