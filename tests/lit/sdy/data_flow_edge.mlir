// Edges of a while carry shardings in and round.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-add-data-flow-edges -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<i32>) -> tensor<8x8xf32> {
  %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8x8xf32>, tensor<i32>
  cond {
    %2 = stablehlo.compare LT, %iterArg_0, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.tanh %iterArg : tensor<8x8xf32>
    %3 = stablehlo.add %iterArg_0, %arg1 : tensor<i32>
    stablehlo.return %2, %3 : tensor<8x8xf32>, tensor<i32>
  }
  %1 = stablehlo.negate %0#0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<i32>) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT:   cond {
// CHECK-NEXT:     %2 = stablehlo.compare LT, %iterArg_0, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:     stablehlo.return %2 : tensor<i1>
// CHECK-NEXT:   } do {
// CHECK-NEXT:     %2 = stablehlo.tanh %iterArg : tensor<8x8xf32>
// CHECK-NEXT:     %3 = stablehlo.add %iterArg_0, %arg1 : tensor<i32>
// CHECK-NEXT:     stablehlo.return %2, %3 : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %1 = stablehlo.negate %0#0 : tensor<8x8xf32>
// CHECK-NEXT:   return %1 : tensor<8x8xf32>
// CHECK-NEXT: }

// SHARD: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
// SHARD: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<i32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}) {
// SHARD-NEXT:   %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8x8xf32>, tensor<i32>
// SHARD-NEXT:   cond {
// SHARD-NEXT:     %4 = stablehlo.compare LT, %iterArg_0, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// SHARD-NEXT:     stablehlo.return %4 : tensor<i1>
// SHARD-NEXT:   } do {
// SHARD-NEXT:     %4 = stablehlo.tanh %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:     %5 = stablehlo.add %iterArg_0, %arg1 : tensor<i32>
// SHARD-NEXT:     stablehlo.return %4, %5 : tensor<8x8xf32>, tensor<i32>
// SHARD-NEXT:   }
// SHARD-NEXT:   %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"a", ?}, {?}]> : tensor<8x8xf32>
// SHARD-NEXT:   %2 = sdy.data_flow_edge %0#1 : tensor<i32>
// SHARD-NEXT:   %3 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>} : tensor<8x8xf32>
// SHARD-NEXT:   return %3 : tensor<8x8xf32>
// SHARD-NEXT: }
