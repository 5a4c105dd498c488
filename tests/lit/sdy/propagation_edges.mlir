// What propagation did, as an attribute; and the op at the border of functions.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s | terrazzo opt | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=4]>

// CHECK-LABEL: func @edges
func.func @edges(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: stablehlo.multiply %arg0, %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-1 -> [result-0]}, {"b":(2)2 = result-0 -> [operand-0, operand-1]}]}, {step-7 = [{"b" = operand-0 -> [result-0]}]}]>, sdy.sharding
  %0 = stablehlo.multiply %arg0, %arg0 {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-1 -> [result-0]}, {"b":(2)2 = result-0->[operand-0,operand-1]}]}, {step-7=[{"b"=operand-0->[result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func @border
func.func @border(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %0 = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x4xf32>
  %0 = sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// An alias stands for an attribute inside others, too.
#axis = #sdy<axis_ref"a">
#sharding = #sdy.sharding<@mesh, [{}, {"b"}], replicated={#axis}>
// CHECK-LABEL: func @alias
func.func @alias(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: sdy.data_flow_edge %arg0 sharding=<@mesh, [{}, {"b"}], replicated={"a"}> : tensor<8x4xf32>
  %0 = sdy.data_flow_edge %arg0 sharding=#sharding : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
