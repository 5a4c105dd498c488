// RUN: terrazzo opt %s --chlo-legalize-to-stablehlo --split-input-file | FileCheck %s

// CHECK-LABEL: func @square
// CHECK-NEXT:    %[[R:.*]] = stablehlo.multiply %arg0, %arg0
// CHECK-NEXT:    return %[[R]]
func.func @square(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = chlo.square %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// In f32 and back.
// CHECK-LABEL: func @narrow
// CHECK-NEXT:    %[[W:.*]] = stablehlo.convert %arg0 : (tensor<bf16>) -> tensor<f32>
// CHECK:         stablehlo.exponential
// CHECK:         stablehlo.exponential
// CHECK-NEXT:    %[[C:.*]] = stablehlo.add
// CHECK-NEXT:    %[[N:.*]] = stablehlo.convert %[[C]] : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT:    return %[[N]]
func.func @narrow(%x: tensor<bf16>) -> tensor<bf16> {
  %0 = chlo.cosh %x : tensor<bf16> -> tensor<bf16>
  return %0 : tensor<bf16>
}

// -----

// Constants in a shape that is not known.
// CHECK-LABEL: func @dynamic
// CHECK-NEXT:    %[[K:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[S:.*]] = shape.shape_of %arg0 : tensor<?xf32> -> tensor<1xindex>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.dynamic_broadcast_in_dim %[[K]], %[[S]], dims = []
// CHECK-NEXT:    stablehlo.atan2 %arg0, %[[B]]
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = chlo.atan %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @bounded
// CHECK-NEXT:    %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:    %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK-NEXT:    %[[D:.*]] = stablehlo.set_dimension_size %[[B]], %[[N]], dim = 0
// CHECK-NEXT:    stablehlo.compare LT, %arg0, %[[D]], TOTALORDER
func.func @bounded(%x: tensor<?xf32, #stablehlo.bounds<8>>, %y: tensor<f32>)
    -> tensor<?xi1, #stablehlo.bounds<8>> {
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>}
      : (tensor<?xf32, #stablehlo.bounds<8>>, tensor<f32>) -> tensor<?xi1, #stablehlo.bounds<8>>
  return %0 : tensor<?xi1, #stablehlo.bounds<8>>
}

// -----

// CHECK-LABEL: func @ranked
// CHECK:         %[[W:.*]] = shape.cstr_broadcastable
// CHECK:         %[[R:.*]] = shape.assuming %[[W]] -> (tensor<?x?xf32>) {
// CHECK:           %[[S:.*]] = shape.broadcast
// CHECK:           stablehlo.dynamic_broadcast_in_dim %arg0, %[[S]], dims = [1]
// CHECK:           stablehlo.dynamic_broadcast_in_dim %arg1, %[[S]], dims = [0, 1]
// CHECK:           %[[P:.*]] = stablehlo.multiply
// CHECK:           shape.assuming_yield %[[P]]
// CHECK:         return %[[R]]
func.func @ranked(%x: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = chlo.broadcast_multiply %x, %y : (tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Two groups of rows, each times its own matrix.
// CHECK-LABEL: func @ragged
// CHECK:         %[[D0:.*]] = stablehlo.dot_general {{.*}} contracting_dims = [1] x [0]
// CHECK:         %[[D1:.*]] = stablehlo.dot_general {{.*}} contracting_dims = [1] x [0]
// CHECK:         %[[R:.*]] = stablehlo.add %[[D0]], %[[D1]]
// CHECK-NEXT:    return %[[R]]
func.func @ragged(%x: tensor<6x3xf32>, %y: tensor<2x3x4xf32>, %n: tensor<2xi32>) -> tensor<6x4xf32> {
  %0 = "chlo.ragged_dot"(%x, %y, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// CHECK-LABEL: func @scan
// CHECK:         stablehlo.while
// CHECK:           %[[LAST:.*]] = stablehlo.subtract
// CHECK:           stablehlo.subtract %[[LAST]]
// CHECK:           stablehlo.dynamic_slice
// CHECK:           stablehlo.maximum
// CHECK:           stablehlo.dynamic_update_slice
func.func @scan(%x: tensor<4xf32>, %i: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m, %m : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: func @select
// CHECK-NEXT:    %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:    stablehlo.select %arg0, %[[B]], %arg2
func.func @select(%p: tensor<i1>, %x: tensor<3xi32>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_select"(%p, %x, %y) : (tensor<i1>, tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// -----

// Masks take zeros of formats that nothing here computes in.
// CHECK-LABEL: func @thin
// CHECK:         stablehlo.constant dense<0.000000e+00> : tensor<{{.*}}f6E2M3FN>
func.func @thin(%x: tensor<6x4xf6E2M3FN>, %y: tensor<3x4x5xf6E2M3FN>, %n: tensor<3xi64>) -> tensor<6x5xf6E2M3FN> {
  %0 = "chlo.ragged_dot"(%x, %y, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf6E2M3FN>, tensor<3x4x5xf6E2M3FN>, tensor<3xi64>) -> tensor<6x5xf6E2M3FN>
  return %0 : tensor<6x5xf6E2M3FN>
}
