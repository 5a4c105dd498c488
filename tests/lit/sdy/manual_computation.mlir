// Inside, types are local to the manual axes; free axes propagate through the border.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-add-data-flow-edges -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {"c"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    %2 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {"c"}]>}) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT:     %2 = stablehlo.tanh %arg1 : tensor<4x8xf32>
// CHECK-NEXT:     sdy.return %2 : tensor<4x8xf32>
// CHECK-NEXT:   } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT:   %1 = stablehlo.negate %0 : tensor<8x8xf32>
// CHECK-NEXT:   return %1 : tensor<8x8xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// SHARD: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {"c"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {"c", ?}]>}) {
// SHARD-NEXT:   %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
// SHARD-NEXT:     %3 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{"b", ?}, {"c", ?}]> : tensor<4x8xf32>
// SHARD-NEXT:     %4 = stablehlo.tanh %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", ?}, {"c", ?}]>]>} : tensor<4x8xf32>
// SHARD-NEXT:     sdy.return %4 : tensor<4x8xf32>
// SHARD-NEXT:   } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// SHARD-NEXT:   %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a", "b", ?}, {"c", ?}]> : tensor<8x8xf32>
// SHARD-NEXT:   %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b", ?}, {"c", ?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   return %2 : tensor<8x8xf32>
// SHARD-NEXT: }
