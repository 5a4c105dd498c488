// Fields of attributes, shapes of constants, properties: where MLIR says what is wrong, and how.
// RUN: not terrazzo opt %s -split-input-file 2>&1 | FileCheck %s

// CHECK: :[[# @LINE+1]]:68: error: duplicate or unknown struct parameter name: x
module attributes {t.a = #stablehlo.channel_handle<handle = 1, x = 2>} {}

// -----

// CHECK: :[[# @LINE+1]]:62: error: expected ','
module attributes {t.a = #stablehlo.channel_handle<handle = 1 type = 2>} {}

// -----

// CHECK: :[[# @LINE+1]]:72: error: expected '>'
module attributes {t.a = #stablehlo.channel_handle<handle = 1, type = 2, >} {}

// -----

// CHECK: :[[# @LINE+1]]:52: error: expected valid keyword
module attributes {t.a = #stablehlo.channel_handle<>} {}

// -----

// CHECK: :[[# @LINE+1]]:65: error: duplicate or unknown struct parameter name: name
module attributes {t.a = #stablehlo.axis_ref<name = "a", name = "b">} {}

// -----

// CHECK: :[[# @LINE+1]]:58: error: expected 'output_tuple_indices'
module attributes {t.a = #stablehlo.output_operand_alias<x = 1>} {}

// -----

// CHECK: :[[# @LINE+1]]:75: error: expected ','
module attributes {t.a = #stablehlo.dot_algorithm<lhs_precision_type = f32 f32>} {}

// -----

// CHECK: :[[# @LINE+1]]:26: error: elements literal must be a shaped type
module attributes {t.a = dense<[1]> : i32} {}

// -----

// CHECK: :[[# @LINE+1]]:26: error: elements literal type must have static shape
module attributes {t.a = dense<[1]> : tensor<*xi32>} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: expected element literal of primitive type
module attributes {t.a = dense<+1> : tensor<?xi32>} {}

// -----

// CHECK: :[[# @LINE+1]]:26: error: inferred shape of elements literal ([2]) does not match type ([3])
module attributes {t.a = dense<[1, 2]> : tensor<3xi32>} {}

// -----

// CHECK: :[[# @LINE+1]]:54: error: tensor literal is invalid; ranks are not consistent between elements
module attributes {t.a = dense<[[1, 2], [3, 4, 5, [6]]]> : tensor<2x2xi32>} {}

// -----

// CHECK: :[[# @LINE+1]]:44: error: tensor literal is invalid; ranks are not consistent between elements
module attributes {t.a = dense<[[1, 2], [3]]> : tensor<2x2xi32>} {}

// -----

// CHECK: :[[# @LINE+1]]:26: error: elements hex data size is invalid for provided type: 'tensor<3xi32>'
module attributes {t.a = dense<"0x01"> : tensor<3xi32>} {}

// -----

// CHECK: :[[# @LINE+1]]:39: error: expected '>' in tensor type
module attributes {t.a = tensor<3xi32,%a>} {}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: :[[# @LINE+1]]:8: error: invalid properties [1] for op stablehlo.reverse: expected DictionaryAttr to set properties
  %0 = "stablehlo.reverse"(%a) <[1]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: :[[# @LINE+1]]:18: error: expected '"' in string literal
  stablehlo.foo"x
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: :[[# @LINE+1]]:26: error: custom op 'stablehlo.reshape' number of operands and types do not match: got 2 operands and 1 types
  %0 = stablehlo.reshape %a, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: :[[# @LINE+1]]:26: error: custom op 'stablehlo.complex' number of operands and types do not match: got 1 operands and 2 types
  %0 = stablehlo.complex %a : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: :[[# @LINE+1]]:24: error: expected ':'
  %0 = stablehlo.select
  return
}

// -----

// CHECK: :[[# @LINE+1]]:26: error: invalid integer width
module attributes {t.a = i4294967296} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: unknown stablehlo type: foo
module attributes {t.a = !stablehlo.foo<bar>} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: expected string containing hex digits starting with `0x`
module attributes {t.a = dense<"y"> : tensor<i32>} {}
