// RUN: terrazzo opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: terrazzo opt %s --pass-pipeline='builtin.module(func.func(canonicalize{max-iterations=3}))' --split-input-file | FileCheck %s

// Constants go to the front, equal ones become one, dead ops die.
// CHECK-LABEL: func @constants
// CHECK-NEXT:    %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT:    %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT:    %[[A:.*]] = stablehlo.add %[[ONE]], %arg0
// CHECK-NEXT:    %[[M:.*]] = stablehlo.multiply %[[A]], %[[ONE]]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.subtract %[[M]], %[[TWO]]
// CHECK-NEXT:    return %[[S]]
func.func @constants(%x: tensor<2xf32>) -> tensor<2xf32> {
  %dead = stablehlo.sine %x : tensor<2xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %a = stablehlo.add %one, %x : tensor<2xf32>
  %again = stablehlo.constant dense<1.0> : tensor<2xf32>
  %m = stablehlo.multiply %a, %again : tensor<2xf32>
  %two = stablehlo.constant dense<2.0> : tensor<2xf32>
  %dead2 = stablehlo.cosine %dead : tensor<2xf32>
  %s = stablehlo.subtract %m, %two : tensor<2xf32>
  return %s : tensor<2xf32>
}

// -----

// CHECK-LABEL: func @known_case
// CHECK-NEXT:    %[[N:.*]] = stablehlo.negate %arg0
// CHECK-NEXT:    return %[[N]]
func.func @known_case(%x: tensor<f32>) -> tensor<f32> {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %n = stablehlo.negate %x : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// What has effects stays, whoever uses it.
// CHECK-LABEL: func @effects
// CHECK-NEXT:    stablehlo.custom_call @stays
// CHECK-NEXT:    return
func.func @effects(%x: tensor<f32>) {
  %0 = stablehlo.custom_call @stays(%x) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @goes(%x) : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.optimization_barrier %x : tensor<f32>
  return
}

// -----

// CHECK-LABEL: func @casts
// CHECK-NEXT:    return %arg0
func.func @casts(%x: tensor<f32>) -> tensor<f32> {
  %0 = builtin.unrealized_conversion_cast %x : tensor<f32> to tensor<i32>
  %1 = builtin.unrealized_conversion_cast %0 : tensor<i32> to tensor<f32>
  return %1 : tensor<f32>
}
