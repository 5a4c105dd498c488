// Calls are inlined as named computations for propagation.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-flatten-call-graph -symbol-dce -sdy-import-func-calls -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> tensor<8x8xf32> {
  %0 = call @f(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @f(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func private @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0 = call @f(%arg0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT:   %1 = call @f(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT:   return %1 : tensor<8x8xf32>
// CHECK-NEXT: }
// CHECK: func.func private @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
// CHECK-NEXT:   return %0 : tensor<8x8xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// SHARD: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}) {
// SHARD-NEXT:   %0 = sdy.named_computation<"f">(%arg0) (%arg1: tensor<8x8xf32>) {
// SHARD-NEXT:     %4 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"a", ?}, {?}]> : tensor<8x8xf32>
// SHARD-NEXT:     %5 = stablehlo.tanh %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:     sdy.return %5 : tensor<8x8xf32>
// SHARD-NEXT:   } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// SHARD-NEXT:   %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a", ?}, {?}]> : tensor<8x8xf32>
// SHARD-NEXT:   %2 = sdy.named_computation<"f">(%1) (%arg1: tensor<8x8xf32>) {
// SHARD-NEXT:     %4 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"a", ?}, {?}]> : tensor<8x8xf32>
// SHARD-NEXT:     %5 = stablehlo.tanh %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:     sdy.return %5 : tensor<8x8xf32>
// SHARD-NEXT:   } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// SHARD-NEXT:   %3 = sdy.data_flow_edge %2 sharding=<@mesh, [{"a", ?}, {?}]> : tensor<8x8xf32>
// SHARD-NEXT:   return %3 : tensor<8x8xf32>
// SHARD-NEXT: }
