// Groups of features, and those of batches in the gradient of their kernel, are cut as they are: two
// groups a device, and nothing is sent.
// RUN: terrazzo partition %s | FileCheck %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @main
// CHECK: stablehlo.convolution(%arg0, %arg1){{.*}}feature_group_count = 2{{.*}} : (tensor<2x6x6x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32>
// CHECK: stablehlo.convolution(%arg0, {{.*}}batch_group_count = 2{{.*}} : (tensor<2x6x6x4xf32>, tensor<2x6x6x6xf32>) -> tensor<3x3x2x6xf32>
// CHECK-NOT: stablehlo.all
func.func @main(%x: tensor<2x6x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}, %k: tensor<3x3x2x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}) -> (tensor<2x6x6x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}, tensor<3x3x2x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x6x6x16xf32>, tensor<3x3x2x24xf32>) -> tensor<2x6x6x24xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 8 : i64, feature_group_count = 1 : i64} : (tensor<2x6x6x16xf32>, tensor<2x6x6x24xf32>) -> tensor<3x3x2x24xf32>
  return %0, %1 : tensor<2x6x6x24xf32>, tensor<3x3x2x24xf32>
}

// SAME: the sharded program computes what the whole one does
