// A scatter into an array sharded along the indexed dimension: indices count from where the shard
// begins, and what falls outside of it is left out.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<6x1xi32>, %arg2: tensor<6x8xf32>) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<64x8xf32>, tensor<6x1xi32>, tensor<6x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}, %arg1: tensor<6x1xi32> {terrazzo.global_type = tensor<6x1xi32>}, %arg2: tensor<6x8xf32> {terrazzo.global_type = tensor<6x8xf32>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %c = stablehlo.constant dense<16> : tensor<i64>
// CHECK-NEXT:   %2 = stablehlo.multiply %1, %c : tensor<i64>
// CHECK-NEXT:   %3 = stablehlo.convert %arg1 : (tensor<6x1xi32>) -> tensor<6x1xi64>
// CHECK-NEXT:   %4 = stablehlo.reshape %2 : (tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT:   %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<1xi64>) -> tensor<6x1xi64>
// CHECK-NEXT:   %6 = stablehlo.subtract %3, %5 : tensor<6x1xi64>
// CHECK-NEXT:   %7 = "stablehlo.scatter"(%arg0, %6, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
// CHECK-NEXT:   ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT:     %8 = stablehlo.subtract %arg3, %arg4 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %8 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<16x8xf32>, tensor<6x1xi64>, tensor<6x8xf32>) -> tensor<16x8xf32>
// CHECK-NEXT:   return %7 : tensor<16x8xf32>
// CHECK-NEXT: }
