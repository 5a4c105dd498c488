// What was whole before it was cut is cut again, rather than put together from its shards.
// RUN: terrazzo opt %s -terrazzo-insert-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK: func.func @main(%[[A:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK-DAG: %[[R0:.*]] = sdy.reshard %[[A]] <@mesh, [{"x"}, {"y"}]>
  // CHECK-DAG: %[[R1:.*]] = sdy.reshard %[[A]] <@mesh, [{}, {"x"}]>
  // CHECK-DAG: %[[M:.*]] = sdy.reshard %[[B]] <@mesh, [{"y"}, {}]>
  // CHECK-DAG: %[[R2:.*]] = sdy.reshard %[[B]] <@mesh, [{"x", "y"}, {}]>
  // CHECK: return %[[R0]], %[[R1]], %[[R2]], %[[M]]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %arg1 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %3 = sdy.reshard %2 <@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  return %0, %1, %3, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
