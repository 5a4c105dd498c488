// Dimensions that do not divide: the last shard is padded, and what is combined is masked.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>

// Nothing is combined: no mask. What is cut is 2 of 7 rows, the last of them zeros; what is joined
// is 8 rows, of which 7 count.
// CHECK-LABEL: func.func @rows(
func.func @rows(%arg0: tensor<7x4xf32>) -> tensor<7x4xf32> {
  // CHECK: stablehlo.dynamic_slice %arg0, {{.*}} sizes = [2, 4]
  // CHECK: stablehlo.pad {{.*}} high = [2, 0]
  // CHECK: %[[S:.*]] = stablehlo.dynamic_slice {{.*}} sizes = [2, 4]
  // CHECK-NOT: select
  // CHECK: %[[T:.*]] = stablehlo.tanh %[[S]] : tensor<2x4xf32>
  // CHECK: %[[G:.*]] = "stablehlo.all_gather"(%[[T]]) {{.*}} -> tensor<8x4xf32>
  // CHECK: stablehlo.slice %[[G]] [0:7, 0:4]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<7x4xf32>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<7x4xf32>
  return %1 : tensor<7x4xf32>
}

// The sum over 7 columns: what the last device has behind them is replaced by the initial value.
// CHECK-LABEL: func.func @sum(
func.func @sum(%arg0: tensor<4x7xf32>) -> tensor<4xf32> {
  // CHECK-DAG: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00>
  // CHECK: %[[E:.*]] = stablehlo.exponential {{.*}} : tensor<4x2xf32>
  // CHECK: %[[N:.*]] = stablehlo.constant dense<7> : tensor<i32>
  // CHECK: %[[M:.*]] = stablehlo.compare LT,
  // CHECK: %[[F:.*]] = stablehlo.broadcast_in_dim
  // CHECK: %[[V:.*]] = stablehlo.select %[[M]], %[[E]], %[[F]]
  // CHECK: stablehlo.reduce(%[[V]] init: {{.*}} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: "stablehlo.all_reduce"
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<4x7xf32>
  %1 = stablehlo.exponential %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<4x7xf32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Of a product's operands, what has been cut from a whole has zeros behind it already.
// CHECK-LABEL: func.func @product(
func.func @product(%arg0: tensor<4x7xf32>, %arg1: tensor<7x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[L:.*]] = stablehlo.log {{.*}} : tensor<4x2xf32>
  // CHECK: %[[V:.*]] = stablehlo.select {{.*}}, %[[L]], {{.*}} tensor<4x2xf32>
  // CHECK-NOT: select
  // CHECK: stablehlo.dot_general %[[V]], {{.*}} : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<4x7xf32>
  %1 = sdy.reshard %arg1 <@mesh, [{"x"}, {}]> : tensor<7x4xf32>
  %2 = stablehlo.log %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<4x7xf32>
  %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0] : (tensor<4x7xf32>, tensor<7x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// Two dimensions trade places: 7 columns become 2 on each device, 5 rows come together.
// CHECK-LABEL: func.func @turn(
func.func @turn(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // CHECK: %[[A:.*]] = stablehlo.abs {{.*}} : tensor<2x7xf32>
  // CHECK: %[[P:.*]] = stablehlo.pad %[[A]], {{.*}} -> tensor<2x8xf32>
  // CHECK: %[[T:.*]] = "stablehlo.all_to_all"(%[[P]]) {{.*}} -> tensor<8x2xf32>
  // CHECK: stablehlo.slice %[[T]] [0:5, 0:2]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<5x7xf32>
  %1 = stablehlo.abs %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<5x7xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]> : tensor<5x7xf32>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<5x7xf32>
  return %3 : tensor<5x7xf32>
}

// A place in a table is clamped to the table, not to its padding.
// CHECK-LABEL: func.func @look_up(
func.func @look_up(%arg0: tensor<7x4xf32>, %arg1: tensor<3x1xi32>) -> tensor<3x4xf32> {
  // CHECK: stablehlo.constant dense<6> : tensor<1xi64>
  // CHECK: stablehlo.clamp
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<7x4xf32>
  %1 = "stablehlo.gather"(%0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<7x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// 10 in shards of 5 are no parts of shards of 3: nothing is cut further where it lies.
// CHECK-LABEL: func.func @again(
func.func @again(%arg0: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>}) -> tensor<10xf32> {
  // CHECK: %[[G:.*]] = "stablehlo.all_gather"(%arg0) {{.*}} -> tensor<10xf32>
  // CHECK: stablehlo.dynamic_slice %[[G]], {{.*}} sizes = [3]
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}]> : tensor<10xf32>
  %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<10xf32>
  return %1 : tensor<10xf32>
}
