// Extra rules of ops whose sizes are operands, and of ops that ask for or set sizes.
// RUN: terrazzo opt %s -sdy-populate-op-sharding-rules=extra-rules=true | FileCheck %s

// CHECK-LABEL: func.func @dynamic_reshape(
// CHECK: #sdy.op_sharding_rule<([ij, k], [l])->([i, jk]) {i=4, j=2, k=6, l=1}>
func.func @dynamic_reshape(%arg0: tensor<8x6xf32>, %arg1: tensor<2xi32>) -> tensor<4x12xf32> {
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<8x6xf32>, tensor<2xi32>) -> tensor<4x12xf32>
  return %0 : tensor<4x12xf32>
}

// CHECK-LABEL: func.func @dynamic_broadcast_in_dim(
// CHECK: #sdy.op_sharding_rule<([j, k], [m])->([i, j, l]) {i=4, j=8, k=1, l=6, m=1}>
func.func @dynamic_broadcast_in_dim(%arg0: tensor<8x1xf32>, %arg1: tensor<3xi32>) -> tensor<4x8x6xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [1, 2] : (tensor<8x1xf32>, tensor<3xi32>) -> tensor<4x8x6xf32>
  return %0 : tensor<4x8x6xf32>
}

// CHECK-LABEL: func.func @dynamic_iota(
// CHECK: #sdy.op_sharding_rule<([k])->([i, j]) {i=8, j=4, k=1}>
func.func @dynamic_iota(%arg0: tensor<2xi32>) -> tensor<8x4xf32> {
  %0 = stablehlo.dynamic_iota %arg0, dim = 0 : (tensor<2xi32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @rng(
// CHECK: #sdy.op_sharding_rule<([], [], [k])->([i, j]) {i=8, j=4, k=1}>
func.func @rng(%arg0: tensor<f32>, %arg1: tensor<2xi64>) -> tensor<8x4xf32> {
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @real_dynamic_slice(
// CHECK: #sdy.op_sharding_rule<([i, j], [k], [l], [m])->([i, j]) {i=8, j=16, k=1, l=1, m=1} need_replication={j} blocked_propagation={j}>
func.func @real_dynamic_slice(%arg0: tensor<8x16xf32>, %arg1: tensor<2xi32>) -> tensor<8x4xf32> {
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<8x16xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @dynamic_pad(
// CHECK: #sdy.op_sharding_rule<([i, j], [], [k], [l], [m])->([i, j]) {i=8, j=16, k=1, l=1, m=1} need_replication={j} permutation={i} blocked_propagation={j}>
func.func @dynamic_pad(%arg0: tensor<8x16xf32>, %arg1: tensor<f32>, %arg2: tensor<2xi32>) -> tensor<8x20xf32> {
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg2, %arg2 : (tensor<8x16xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<8x20xf32>
  return %0 : tensor<8x20xf32>
}

// CHECK-LABEL: func.func @dynamic_gather(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [m])->([i, j]) {i=8, j=16, k=64, l=1, m=1} reduction={k} need_replication={l}>
func.func @dynamic_gather(%arg0: tensor<64x16xf32>, %arg1: tensor<8x1xi32>, %arg2: tensor<2xi32>) -> tensor<8x16xf32> {
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<64x16xf32>, tensor<8x1xi32>, tensor<2xi32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @dynamic_conv(
// CHECK: #sdy.op_sharding_rule<([i, j, k, l], [n, o, l, m], [p, q])->([i, j, k, m]) {i=8, j=6, k=6, l=4, m=16, n=1, o=1, p=1, q=1} reduction={l} permutation={j, k}>
func.func @dynamic_conv(%arg0: tensor<8x6x6x4xf32>, %arg1: tensor<3x3x4x16xf32>, %arg2: tensor<2x2xi32>) -> tensor<8x6x6x16xf32> {
  %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<8x6x6x4xf32>, tensor<3x3x4x16xf32>, tensor<2x2xi32>) -> tensor<8x6x6x16xf32>
  return %0 : tensor<8x6x6x16xf32>
}

// CHECK-LABEL: func.func @dimension_sizes(
// CHECK: #sdy.op_sharding_rule<([i, j])->([]) {i=8, j=4} need_replication={j}>
func.func @dimension_sizes(%arg0: tensor<8x4xf32>, %arg1: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<8x4xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: func.func @set_dimension_size(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=4} need_replication={j}>
func.func @set_dimension_size(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.set_dimension_size %arg0, %c, dim = 1 : (tensor<8x4xf32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @unknown_size(
// CHECK-NOT: sharding_rule
func.func @unknown_size(%arg0: tensor<?x6xf32>, %arg1: tensor<2xi32>) -> tensor<4x12xf32> {
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<4x12xf32>
  return %0 : tensor<4x12xf32>
}

// The verifier does not look at the result's rank.
// CHECK-LABEL: func.func @dynamic_conv_rank(
// CHECK-NOT: sharding_rule
func.func @dynamic_conv_rank(%arg0: tensor<8x6x6x4xf32>, %arg1: tensor<3x3x4x16xf32>, %arg2: tensor<2x2xi32>) -> tensor<8x6x6xf32> {
  %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<8x6x6x4xf32>, tensor<3x3x4x16xf32>, tensor<2x2xi32>) -> tensor<8x6x6xf32>
  return %0 : tensor<8x6x6xf32>
}
