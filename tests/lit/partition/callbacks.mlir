// A call whose sharding is one device is made there with the whole, and its results go to all; a
// partitioned callback is made by each device with what it has of each operand. Tokens have no layouts or shardings
// that a tensor would have.
// RUN: not terrazzo run %s --devices 2 --dump all 2>&1 | FileCheck %s
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @one = <[], device_ids=[1]>
// CHECK-LABEL: after partition
// CHECK: custom_call @xla_ffi_partitioned_python_cpu_callback(%arg0, %arg0) {{.*}} : (tensor<4xf32>, tensor<4xf32>) -> ()
// CHECK: custom_call @xla_ffi_partitioned_python_cpu_callback(%arg0, %{{.*}}) {{.*}} : (tensor<4xf32>, tensor<8xf32>) -> ()
// CHECK: %[[W:.*]] = "stablehlo.all_gather"(%arg0)
// CHECK: %[[C:.*]]:2 = stablehlo.custom_call @whole({{.*}}, %[[W]]) {{.*}}terrazzo.device = 1 : i64, terrazzo.tokens = array<i64: 0, 2>} : (tensor<0xi1>, tensor<8xf32>) -> (tensor<0xi1>, tensor<8xf32>)
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%x, %x) {api_version = 4 : i32, has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %w = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%x, %w) {api_version = 4 : i32, has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %0:2 = stablehlo.custom_call @whole(%t, %x) {api_version = 4 : i32, has_side_effect = true, operand_layouts = [dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>], sdy.sharding = #sdy.sharding_per_value<[<@one, []>, <@one, []>]>} : (!stablehlo.token, tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>)
  return %0#1 : tensor<8xf32>
}
