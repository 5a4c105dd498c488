// The value may be any attribute whose type is that of the elements, though only numbers fold.
// RUN: terrazzo opt -split-input-file -verify-diagnostics -canonicalize %s | FileCheck %s

// CHECK-LABEL: @kinds
// CHECK: %[[K:.+]] = chlo.constant dense<5> : tensor<2xi32>
// CHECK: chlo.constant_like"(%arg0) <{value = "a" : f32}> : (tensor<2xf32>) -> tensor<2xf32>
func.func @kinds(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = "chlo.constant_like"(%a) {value = "a" : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "chlo.constant_like"(%a) {value = 5 : i32} : (tensor<2xf32>) -> tensor<2xi32>
  return %0, %1 : tensor<2xf32>, tensor<2xi32>
}
// -----
func.func @untyped(%a: tensor<2xf32>) {
  // expected-error@+1 {{attribute 'value' failed to satisfy constraint: TypedAttr instance}}
  %0 = "chlo.constant_like"(%a) {value = [1]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @other(%a: tensor<2xf32>) {
  // expected-error@+1 {{value's type doesn't match element return type}}
  %0 = "chlo.constant_like"(%a) {value = "a"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @complex(%a: tensor<2xf32>) {
  // expected-error@+1 {{value's type doesn't match element return type}}
  %0 = "chlo.constant_like"(%a) {value = #complex.number<:f32 1.0, 2.0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @arith() {
  %0 = "arith.constant"() {value = sparse<0, 1> : tensor<2xi32>} : () -> tensor<2xi32>
  // expected-error@+1 {{value must be an integer, float, or elements attribute}}
  %1 = "arith.constant"() {value = "a" : i32} : () -> i32
  return
}
