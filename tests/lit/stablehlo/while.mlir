// stablehlo.while
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<i32>) -> (tensor<8x4xf32>, tensor<i32>) {
  %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8x4xf32>, tensor<i32>
  cond {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %iterArg_0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.sine %iterArg : tensor<8x4xf32>
    %2 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<i32>
    stablehlo.return %1, %2 : tensor<8x4xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<i32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<i32>) -> (tensor<8x4xf32>, tensor<i32>) {
// CHECK-NEXT:   %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8x4xf32>, tensor<i32>
// CHECK-NEXT:   cond {
// CHECK-NEXT:     %c = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT:     %1 = stablehlo.compare LT, %iterArg_0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:     stablehlo.return %1 : tensor<i1>
// CHECK-NEXT:   } do {
// CHECK-NEXT:     %1 = stablehlo.sine %iterArg : tensor<8x4xf32>
// CHECK-NEXT:     %2 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<i32>
// CHECK-NEXT:     stablehlo.return %1, %2 : tensor<8x4xf32>, tensor<i32>
// CHECK-NEXT:   }
// CHECK-NEXT:   return %0#0, %0#1 : tensor<8x4xf32>, tensor<i32>
// CHECK-NEXT: }

// SHARD: func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}, %arg1: tensor<i32>) -> (tensor<8x4xf32>, tensor<i32>) {
// SHARD-NEXT:   %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<8x4xf32>, tensor<i32>
// SHARD-NEXT:   cond {
// SHARD-NEXT:     %c = stablehlo.constant dense<3> : tensor<i32>
// SHARD-NEXT:     %1 = stablehlo.compare LT, %iterArg_0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// SHARD-NEXT:     stablehlo.return %1 : tensor<i1>
// SHARD-NEXT:   } do {
// SHARD-NEXT:     %1 = stablehlo.sine %iterArg : tensor<8x4xf32>
// SHARD-NEXT:     %2 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<i32>
// SHARD-NEXT:     stablehlo.return %1, %2 : tensor<8x4xf32>, tensor<i32>
// SHARD-NEXT:   }
// SHARD-NEXT:   return %0#0, %0#1 : tensor<8x4xf32>, tensor<i32>
// SHARD-NEXT: }
