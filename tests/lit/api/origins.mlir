// The example that tells where a value's axes came from.
// RUN: ir_origins %s | FileCheck %s
// RUN: ir_origins %s 1 | FileCheck %s --check-prefix=RETURNED

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}p1]>}, %n: tensor<i32>) -> (tensor<8x32xf32>, tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y":(1)2}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%i = %zero, %a = %0) : tensor<i32>, tensor<8x32xf32>
    cond {
      %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %a, %a : tensor<8x32xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<8x32xf32>
    }
  %4 = stablehlo.negate %1#1 : tensor<8x32xf32>
  %5 = stablehlo.iota dim = 0 : tensor<8x16xf32>
  %6 = stablehlo.abs %5 : tensor<8x16xf32>
  return %4, %6 : tensor<8x32xf32>, tensor<8x16xf32>
}

// CHECK: "x":(1)2 of result 0 of stablehlo.negate
// CHECK-NEXT:   step 4, priority 0, round 2: from result 1 of stablehlo.while through stablehlo.negate
// CHECK-NEXT:   step 3, priority 0, round 2: from result 0 of stablehlo.dot_general through stablehlo.while's edge
// CHECK-NEXT:   step 2, priority 0, round 2: from argument 0 of func.func through stablehlo.dot_general
// CHECK-NEXT: "y":(1)4 of result 0 of stablehlo.negate
// CHECK-NEXT:   step 8, priority 1, round 2: from result 1 of stablehlo.while through stablehlo.negate
// CHECK-NEXT:   step 7, priority 1, round 2: from result 0 of stablehlo.dot_general through stablehlo.while's edge
// CHECK-NEXT:   step 6, priority 1, round 2: from argument 1 of func.func through stablehlo.dot_general

// RETURNED: "y":(1)2 of result 0 of stablehlo.abs
// RETURNED-NEXT:   step 0, priority 0, round 0: from the function's result that is result 0 of stablehlo.abs through func.func
