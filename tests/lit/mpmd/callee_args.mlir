// Arguments of called functions that these only return or could make themselves are gone.
// RUN: mpmd_opt %s -mpmd-erase-unused-callee-block-arguments -mpmd-sink-negligible-ops-into-call-op | FileCheck %s

#t = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %0 = mpmd.call @f(%arg0) {call_counter = 1 : ui32}
// CHECK-NEXT: return %0, %arg1
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #t} {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0:2 = mpmd.call @f(%b, %a, %c) {call_counter = 1 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#1, %0#0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func private @f(%arg0: tensor<8xf32> {sdy.s = 2 : i32}) -> (tensor<8xf32> {sdy.s = 5 : i32})
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<1.0
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %[[C]]
// CHECK-NEXT: return %[[SUM]]
func.func private @f(%b: tensor<8xf32> {sdy.s = 1 : i32}, %a: tensor<8xf32> {sdy.s = 2 : i32}, %c: tensor<8xf32> {sdy.s = 3 : i32})
    -> (tensor<8xf32> {sdy.s = 4 : i32}, tensor<8xf32> {sdy.s = 5 : i32}) attributes {topology = #t} {
  %0 = stablehlo.add %a, %c : tensor<8xf32>
  return %b, %0 : tensor<8xf32>, tensor<8xf32>
}
