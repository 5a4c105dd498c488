// propagation and sdy_op_interfaces, data flow: one edge joins operand, arguments, returned value and result.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-aggressive-propagate' | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) -> tensor<8x8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%x = %arg0, %n = %c) : tensor<8x8xf32>, tensor<i32> cond {
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %n, %c_0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %n, %c_1 : tensor<i32>
    %3 = stablehlo.multiply %x, %arg1 : tensor<8x8xf32>
    stablehlo.return %3, %2 : tensor<8x8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b", ?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}) {
// CHECK-NEXT:   %0 = sdy.constant dense<0> : tensor<i32>
// CHECK-NEXT:   %1:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %0) : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT:   cond {
// CHECK-NEXT:     %4 = sdy.constant dense<4> : tensor<i32>
// CHECK-NEXT:     %5 = stablehlo.compare LT, %iterArg_0, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:     stablehlo.return %5 : tensor<i1>
// CHECK-NEXT:   } do {
// CHECK-NEXT:     %4 = sdy.constant dense<1> : tensor<i32>
// CHECK-NEXT:     %5 = stablehlo.add %iterArg_0, %4 : tensor<i32>
// CHECK-NEXT:     %6 = stablehlo.multiply %iterArg, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}]>]>} : tensor<8x8xf32>
// CHECK-NEXT:     stablehlo.return %6, %5 : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %2 = sdy.data_flow_edge %1#0 sharding=<@mesh, [{"a", ?}, {"b", ?}]> : tensor<8x8xf32>
// CHECK-NEXT:   %3 = sdy.data_flow_edge %1#1 : tensor<i32>
// CHECK-NEXT:   return %2 : tensor<8x8xf32>
// CHECK-NEXT: }
