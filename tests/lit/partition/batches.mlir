// A call of which the first dimensions are a batch is made with shards of it, as far as all its
// tensors have the batch; any other gets the whole.
// RUN: terrazzo partition %s --devices 2 2>&1 | FileCheck %s
sdy.mesh @mesh = <["x"=2]>
// CHECK: func.func @main(%arg0: tensor<4x3xf32>
// CHECK-NEXT: custom_call @rows(%arg0) {{.*}} : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>)
// CHECK-NEXT: custom_call @rows(%0#0, %0#1) {{.*}} : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x3xf32>
// CHECK: "stablehlo.all_gather"(%1)
// CHECK: custom_call @rows({{.*}} : (tensor<8x3xf32>) -> tensor<3x8xf32>
func.func @main(%x: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<3x8xf32> {
  %0:2 = stablehlo.custom_call @rows(%x) {api_version = 4 : i32, terrazzo.batch_dims = 1 : i64} : (tensor<8x3xf32>) -> (tensor<8x3xf32>, tensor<8xf32>)
  %1 = stablehlo.custom_call @rows(%0#0, %0#1) {api_version = 4 : i32, terrazzo.batch_dims = 2 : i64} : (tensor<8x3xf32>, tensor<8xf32>) -> tensor<8x3xf32>
  %2 = stablehlo.custom_call @rows(%1) {api_version = 4 : i32, terrazzo.batch_dims = 1 : i64} : (tensor<8x3xf32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}
