// Indices that count the rows make the row a batching dimension; others stay as they are.
// RUN: terrazzo opt %s -sdy-explicit-gather-scatter-batching | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: "stablehlo.gather"(%arg0, %arg1)
// CHECK-SAME: operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1]
func.func @rows(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi32>) -> tensor<4x1xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %1 = stablehlo.concatenate %0, %arg1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
}

// Numbers below zero would count from the end: the row's own number is none of those.
// CHECK-LABEL: @wrapped
// CHECK: operand_batching_dims = [0]
func.func @wrapped(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi32>) -> tensor<4x1xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %c = stablehlo.constant dense<0> : tensor<4xi32>
  %c_0 = stablehlo.constant dense<4> : tensor<4xi32>
  %1 = stablehlo.compare LT, %0, %c : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %2 = stablehlo.add %0, %c_0 : tensor<4xi32>
  %3 = stablehlo.select %1, %2, %0 : tensor<4xi1>, tensor<4xi32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %5 = stablehlo.concatenate %4, %arg1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
  return %6 : tensor<4x1xf32>
}

// CHECK-LABEL: @clamped_away
// CHECK-NOT: operand_batching_dims
func.func @clamped_away(%arg0: tensor<4x8xf32>, %arg1: tensor<4x1xi32>) -> tensor<4x1xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %c_0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.clamp %c, %0, %c_0 : (tensor<i32>, tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi32>
  %2 = stablehlo.concatenate %1, %arg1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %3 = "stablehlo.gather"(%arg0, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
  return %3 : tensor<4x1xf32>
}

// CHECK-LABEL: @scatter
// CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2)
// CHECK-SAME: input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1]
func.func @scatter(%arg0: tensor<4x8xi32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4xi32>) -> tensor<4x8xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %1 = stablehlo.concatenate %0, %arg1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %2 = "stablehlo.scatter"(%arg0, %1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
    stablehlo.return %arg4 : tensor<i32>
  }) : (tensor<4x8xi32>, tensor<4x2xi32>, tensor<4xi32>) -> tensor<4x8xi32>
  return %2 : tensor<4x8xi32>
}
