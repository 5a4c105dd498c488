// Sums that only meet each other are summed up once: the parts are added first. What stands behind
// the sums, here the end of a wide sum and a slice, stands behind their sum then. A sum that
// somebody else uses stays.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @three
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK-NOT: all_reduce
// CHECK: %[[T:.*]] = stablehlo.transpose
// CHECK-NOT: all_reduce
// CHECK: %[[A:.*]] = stablehlo.add
// CHECK: %[[B:.*]] = stablehlo.subtract %[[A]], %[[T]]
// CHECK: %[[S:.*]] = "stablehlo.all_reduce"(%[[B]])
// CHECK: return %[[S]]
func.func @three(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.add %0, %1 : tensor<8x8xf32>
  %5 = stablehlo.subtract %4, %3 : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// The wide parts are added as they are, and scattered.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[A:.*]] = stablehlo.add {{.*}} : tensor<8x8xf32>
// CHECK: %[[S:.*]] = "stablehlo.reduce_scatter"(%[[A]])
// CHECK: (tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[C:.*]] = stablehlo.convert %[[S]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK: return %[[C]]
func.func @narrow(%a: tensor<8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xbf16>
  return %2 : tensor<8x8xbf16>
}

// CHECK-LABEL: func.func @used
// CHECK-COUNT-2: "stablehlo.all_reduce"
// CHECK: stablehlo.add
func.func @used(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  return %2, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// What is sliced along other axes than those of the sum is sliced first.
// CHECK-LABEL: func.func @slice_first
// CHECK: %[[P:.*]] = stablehlo.reduce
// CHECK: %[[L:.*]] = stablehlo.dynamic_slice %[[P]]
// CHECK: "stablehlo.all_reduce"(%[[L]])
// CHECK: (tensor<4xf32>) -> tensor<4xf32>
func.func @slice_first(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
