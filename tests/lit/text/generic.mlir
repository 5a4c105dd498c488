// The generic form: no suggested names, no number twice.
// RUN: terrazzo opt -allow-unregistered-dialect -mlir-print-op-generic %s | FileCheck %s --strict-whitespace --match-full-lines

func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] {x} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %p = sdy.propagation_barrier %a allowed_direction=BACKWARD : tensor<2xf32>
  return %p : tensor<2xf32>
}

// CHECK:"builtin.module"() ({
// CHECK-NEXT:  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "f"}> ({
// CHECK-NEXT:  ^bb0(%arg0: tensor<2xf32>):
// CHECK-NEXT:    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT:    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT:    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT:      %3 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      "stablehlo.return"(%3) : (tensor<f32>) -> ()
// CHECK-NEXT:    }) {x} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    %2 = "sdy.propagation_barrier"(%arg0) <{allowed_direction = 2 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    "func.return"(%2) : (tensor<2xf32>) -> ()
// CHECK-NEXT:  }) : () -> ()
// CHECK-NEXT:}) : () -> ()
