// A sum that is wanted whole is sliced for those who want shards of it, whoever comes first; where
// all want shards, it is scattered.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
#parts = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>
#rows = #sdy.sharding<@mesh, [{"x"}, {}]>
#columns = #sdy.sharding<@mesh, [{}, {"x"}]>

// CHECK-LABEL: func.func @whole_first
// CHECK: stablehlo.dot_general
// CHECK: %[[S:.*]] = "stablehlo.all_reduce"
// CHECK-NOT: reduce_scatter
// CHECK: %[[R:.*]] = stablehlo.dynamic_slice %[[S]]
// CHECK: return %[[S]], %[[R]]
func.func @whole_first(%a: tensor<8x4xf32> {sdy.sharding = #columns}, %b: tensor<4x8xf32> {sdy.sharding = #rows}) -> (tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[#parts]>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @shards_first
// CHECK: %[[S:.*]] = "stablehlo.all_reduce"
// CHECK-NOT: reduce_scatter
// CHECK: return
func.func @shards_first(%a: tensor<8x4xf32> {sdy.sharding = #columns}, %b: tensor<4x8xf32> {sdy.sharding = #rows}) -> (tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[#parts]>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %3 = stablehlo.tanh %2 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @all_in_shards
// CHECK-NOT: all_reduce
// CHECK: "stablehlo.reduce_scatter"
// CHECK-NOT: all_reduce
// CHECK: return
func.func @all_in_shards(%a: tensor<8x4xf32> {sdy.sharding = #columns}, %b: tensor<4x8xf32> {sdy.sharding = #rows}) -> (tensor<8x8xf32> {sdy.sharding = #columns}, tensor<8x8xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[#parts]>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
