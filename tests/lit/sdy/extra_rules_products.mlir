// Extra rules of products, selections, scans and statistics.
// RUN: terrazzo opt %s -sdy-populate-op-sharding-rules=extra-rules=true | FileCheck %s

// CHECK-LABEL: func.func @einsum(
// CHECK: #sdy.op_sharding_rule<([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=8, k=4, l=16} reduction={l}>
func.func @einsum(%arg0: tensor<2x8x16xf32>, %arg1: tensor<2x16x4xf32>) -> tensor<2x8x4xf32> {
  %0 = stablehlo.einsum %arg0, %arg1, config = "bij,bjk->bik" : (tensor<2x8x16xf32>, tensor<2x16x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @einsum_dots(
// CHECK: #sdy.op_sharding_rule<([j, k, l, m], [k, m, i])->([i, j, k, l]) {i=4, j=2, k=3, l=8, m=16} reduction={m}>
func.func @einsum_dots(%arg0: tensor<2x3x8x16xf32>, %arg1: tensor<3x16x4xf32>) -> tensor<4x2x3x8xf32> {
  %0 = stablehlo.einsum %arg0, %arg1, config = "...ij, ...jk -> k...i" : (tensor<2x3x8x16xf32>, tensor<3x16x4xf32>) -> tensor<4x2x3x8xf32>
  return %0 : tensor<4x2x3x8xf32>
}

// CHECK-LABEL: func.func @einsum_diagonal(
// CHECK-NOT: sharding_rule
func.func @einsum_diagonal(%arg0: tensor<8x8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.einsum %arg0, %arg1, config = "ii,i->i" : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @einsum_wrong(
// CHECK-NOT: sharding_rule
func.func @einsum_wrong(%arg0: tensor<8x8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.einsum %arg0, %arg1, config = "ij,j" : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.einsum %arg0, %arg1, config = "ij,j->k" : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.einsum %arg0, %arg1, config = "ij,jk->i" : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = stablehlo.einsum %arg0, %arg1, config = "i1,1->i" : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @unary_einsum(
// CHECK: #sdy.op_sharding_rule<([j, i])->([i]) {i=16, j=8} reduction={j}>
func.func @unary_einsum(%arg0: tensor<8x16xf32>) -> tensor<16xf32> {
  %0 = stablehlo.unary_einsum %arg0, config = "ij->j" : (tensor<8x16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: func.func @torch_index_select(
// CHECK: #sdy.op_sharding_rule<([i, k, l], [i, j])->([i, j, l]) {i=4, j=6, k=32, l=16} reduction={k}>
func.func @torch_index_select(%arg0: tensor<4x32x16xf32>, %arg1: tensor<4x6xi32>) -> tensor<4x6x16xf32> {
  %0 = "stablehlo.torch_index_select"(%arg0, %arg1) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<4x32x16xf32>, tensor<4x6xi32>) -> tensor<4x6x16xf32>
  return %0 : tensor<4x6x16xf32>
}

// CHECK-LABEL: func.func @torch_index_select_no_batch(
// CHECK: #sdy.op_sharding_rule<([i, l, m], [j, k])->([i, j, k, m]) {i=4, j=5, k=6, l=32, m=16} reduction={l}>
func.func @torch_index_select_no_batch(%arg0: tensor<4x32x16xf32>, %arg1: tensor<5x6xi32>) -> tensor<4x5x6x16xf32> {
  %0 = "stablehlo.torch_index_select"(%arg0, %arg1) <{dim = -2 : i64, batch_dims = 0 : i64}> : (tensor<4x32x16xf32>, tensor<5x6xi32>) -> tensor<4x5x6x16xf32>
  return %0 : tensor<4x5x6x16xf32>
}

// CHECK-LABEL: func.func @ragged_rows(
// CHECK: #sdy.op_sharding_rule<([j, k, l], [j, i, l, m], [j, i])->([j, k, m]) {i=3, j=2, k=6, l=4, m=5} reduction={l} need_replication={i, k}>
func.func @ragged_rows(%arg0: tensor<2x6x4xf32>, %arg1: tensor<2x3x4x5xf32>, %arg2: tensor<2x3xi64>) -> tensor<2x6x5xf32> {
  %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x6x4xf32>, tensor<2x3x4x5xf32>, tensor<2x3xi64>) -> tensor<2x6x5xf32>
  return %0 : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @ragged_contracting(
// CHECK: #sdy.op_sharding_rule<([k, j], [j, l], [i])->([i, k, l]) {i=3, j=4, k=6, l=5} need_replication={i, j}>
func.func @ragged_contracting(%arg0: tensor<6x4xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<3xi64>) -> tensor<3x6x5xf32> {
  %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>}> : (tensor<6x4xf32>, tensor<4x5xf32>, tensor<3xi64>) -> tensor<3x6x5xf32>
  return %0 : tensor<3x6x5xf32>
}

// CHECK-LABEL: func.func @ragged_batch(
// CHECK: #sdy.op_sharding_rule<([j, k, l], [j, l, m], [i])->([j, k, m]) {i=3, j=7, k=6, l=4, m=5} reduction={l} need_replication={i, j}>
func.func @ragged_batch(%arg0: tensor<7x6x4xf32>, %arg1: tensor<7x4x5xf32>, %arg2: tensor<3xi64>) -> tensor<7x6x5xf32> {
  %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<7x6x4xf32>, tensor<7x4x5xf32>, tensor<3xi64>) -> tensor<7x6x5xf32>
  return %0 : tensor<7x6x5xf32>
}

// CHECK-LABEL: func.func @scan(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, k])->([i, j, k], [i, k]) {i=8, j=3, k=4} need_replication={j}>
func.func @scan(%arg0: tensor<8x3x4xf32>, %arg1: tensor<8x4xf32>) -> tensor<8x3x4xf32> {
  %0:2 = chlo.scan(%arg0) inits (%arg1) dimension = 1 {
  ^bb0(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>):
    %1 = stablehlo.add %x, %y : tensor<8x4xf32>
    stablehlo.return %1, %1 : tensor<8x4xf32>, tensor<8x4xf32>
  } : (tensor<8x3x4xf32>, tensor<8x4xf32>) -> (tensor<8x3x4xf32>, tensor<8x4xf32>)
  return %0#0 : tensor<8x3x4xf32>
}

// The body must keep the elements apart.
// CHECK-LABEL: func.func @scan_mixes(
// CHECK-NOT: chlo.scan{{.*}}sharding_rule
func.func @scan_mixes(%arg0: tensor<8x3xf32>, %arg1: tensor<8xf32>) -> tensor<8x3xf32> {
  %0:2 = chlo.scan(%arg0) inits (%arg1) dimension = 1 {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %1 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>
    %2 = stablehlo.add %1, %y : tensor<8xf32>
    stablehlo.return %2, %2 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8x3xf32>, tensor<8xf32>) -> (tensor<8x3xf32>, tensor<8xf32>)
  return %0#0 : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @top_k(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=8, j=16} need_replication={j} blocked_propagation={j}>
func.func @top_k(%arg0: tensor<8x16xf32>) -> tensor<8x4xf32> {
  %values, %indices = chlo.top_k(%arg0, k = 4) : tensor<8x16xf32> -> (tensor<8x4xf32>, tensor<8x4xi32>)
  return %values : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @batch_norm_training(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [k], [k])->([i, j, k], [k], [k]) {i=8, j=4, k=16} need_replication={i, j} blocked_propagation={i, j}>
func.func @batch_norm_training(%arg0: tensor<8x4x16xf32>, %arg1: tensor<16xf32>) -> tensor<8x4x16xf32> {
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-03 : f32, feature_index = 2 : i64}> : (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>)
  return %0#0 : tensor<8x4x16xf32>
}

// CHECK-LABEL: func.func @batch_norm_grad(
// CHECK: #sdy.op_sharding_rule<([i, j], [j], [j], [j], [i, j])->([i, j], [j], [j]) {i=8, j=4} need_replication={i} blocked_propagation={i}>
func.func @batch_norm_grad(%arg0: tensor<8x4xf32>, %arg1: tensor<4xf32>) -> tensor<8x4xf32> {
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}> : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<8x4xf32>
}
