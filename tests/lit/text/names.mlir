// How values are named: suggested names, counters inside regions, results of several.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace --match-full-lines

func.func @f(%a: tensor<2xf32>, %b: tensor<i32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %i = stablehlo.constant dense<1> : tensor<i32>
  %x, %y:2 = "a.three"() : () -> (i1, i2, i3)
  "a.use"(%x, %y#1) : (i1, i3) -> ()
  %w:2 = stablehlo.while(%p = %zero, %q = %i) : tensor<2xf32>, tensor<i32>
  cond {
    %t = stablehlo.compare LT, %q, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %k = stablehlo.constant dense<7> : tensor<i32>
    %s = stablehlo.add %q, %k : tensor<i32>
    stablehlo.return %p, %s : tensor<2xf32>, tensor<i32>
  }
  %early = "a.early"() : () -> tensor<2xui64>
  %v, %n = chlo.top_k(%w#0, k = 1) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
  %state, %bits = stablehlo.rng_bit_generator %early, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
  return %w#0 : tensor<2xf32>
}

// CHECK:module {
// CHECK-NEXT:  func.func @f(%arg0: tensor<2xf32>, %arg1: tensor<i32>) -> tensor<2xf32> {
// CHECK-NEXT:    %cst = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    %c = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %0:3 = "a.three"() : () -> (i1, i2, i3)
// CHECK-NEXT:    "a.use"(%0#0, %0#2) : (i1, i3) -> ()
// CHECK-NEXT:    %1:2 = stablehlo.while(%iterArg = %cst, %iterArg_1 = %c) : tensor<2xf32>, tensor<i32>
// CHECK-NEXT:    cond {
// CHECK-NEXT:      %3 = stablehlo.compare LT, %iterArg_1, %arg1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:      stablehlo.return %3 : tensor<i1>
// CHECK-NEXT:    } do {
// CHECK-NEXT:      %c_2 = stablehlo.constant dense<7> : tensor<i32>
// CHECK-NEXT:      %3 = stablehlo.add %iterArg_1, %c_2 : tensor<i32>
// CHECK-NEXT:      stablehlo.return %iterArg, %3 : tensor<2xf32>, tensor<i32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = "a.early"() : () -> tensor<2xui64>
// CHECK-NEXT:    %values, %indices = chlo.top_k(%1#0, k = 1) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
// CHECK-NEXT:    %output_state, %output = stablehlo.rng_bit_generator %2, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui32>)
// CHECK-NEXT:    return %1#0 : tensor<2xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:}
