// Extra rules of ops that are elementwise, but for what they stretch.
// RUN: terrazzo opt %s -sdy-populate-op-sharding-rules=extra-rules=true | FileCheck %s

// CHECK-LABEL: func.func @chlo(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=4}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
func.func @chlo(%arg0: tensor<8x4xf32>, %arg1: tensor<f32>) -> tensor<8x4xi1> {
  %0 = chlo.erf_inv %arg0 : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = chlo.next_after %0, %arg0 : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  %2 = chlo.is_inf %1 : tensor<8x4xf32> -> tensor<8x4xi1>
  return %2 : tensor<8x4xi1>
}

// CHECK-LABEL: func.func @stretched(
// CHECK: #sdy.op_sharding_rule<([j, l], [i, j, k])->([i, j, k]) {i=6, j=8, k=4, l=1}>
func.func @stretched(%arg0: tensor<8x1xf32>, %arg1: tensor<6x8x4xf32>) -> tensor<6x8x4xf32> {
  %0 = chlo.broadcast_add %arg0, %arg1 : (tensor<8x1xf32>, tensor<6x8x4xf32>) -> tensor<6x8x4xf32>
  return %0 : tensor<6x8x4xf32>
}

// CHECK-LABEL: func.func @listed(
// CHECK: #sdy.op_sharding_rule<([i, k], [i, j, k])->([i, j, k]) {i=6, j=8, k=4}>
func.func @listed(%arg0: tensor<6x4xf32>, %arg1: tensor<6x8x4xf32>) -> tensor<6x8x4xi1> {
  %0 = chlo.broadcast_compare %arg0, %arg1 {broadcast_dimensions = array<i64: 0, 2>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<6x4xf32>, tensor<6x8x4xf32>) -> tensor<6x8x4xi1>
  return %0 : tensor<6x8x4xi1>
}

// CHECK-LABEL: func.func @select(
// CHECK: #sdy.op_sharding_rule<([], [j], [i, k])->([i, j]) {i=8, j=4, k=1}>
func.func @select(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %0 = chlo.broadcast_select %arg0, %arg1, %arg2 : (tensor<i1>, tensor<4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @complex(
// CHECK: #sdy.op_sharding_rule<([i, j], [j])->([i, j]) {i=8, j=4}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
func.func @complex(%arg0: tensor<8x4xf32>, %arg1: tensor<4xf32>) -> tensor<8x4xcomplex<f32>> {
  %0 = chlo.broadcast_complex %arg0, %arg1 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xcomplex<f32>>
  %1 = chlo._asin_acos_kernel %0 : tensor<8x4xcomplex<f32>> -> tensor<8x4xcomplex<f32>>
  return %1 : tensor<8x4xcomplex<f32>>
}

// CHECK-LABEL: func.func @constants(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
func.func @constants(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = chlo.constant dense<1.0> : tensor<8x4xf32>
  %1 = "chlo.constant_like"(%arg0) <{value = 2.0 : f32}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: #sdy.op_sharding_rule<([j, k])->([i, j, k]) {i=2, j=8, k=4}>
func.func @broadcast(%arg0: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  %0 = stablehlo.broadcast %arg0, sizes = [2] : (tensor<8x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @map(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=4}>
func.func @map(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.map"(%arg0, %arg0) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @collective_reduce(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
func.func @collective_reduce(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @probe(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
func.func @probe(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = interpreter.probe %arg0, probe_id = "x" : tensor<8x4xf32>
  %1 = tensor.cast %0 : tensor<8x4xf32> to tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
