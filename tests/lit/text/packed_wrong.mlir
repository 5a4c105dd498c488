// What array<...> does not take; and -0, which is no integer.
// RUN: not terrazzo opt %s -split-input-file 2>&1 | FileCheck %s

// CHECK: :[[# @LINE+1]]:32: error: element type bitwidth must be a multiple of 8
module attributes {t.a = array<i4: 1>} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: element type bitwidth must be a multiple of 8
module attributes {t.a = array<f4E2M1FN: 1.0>} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: expected integer or float type, got: 'index'
module attributes {t.a = array<index: 1>} {}

// -----

// CHECK: :[[# @LINE+1]]:77: error: integer constant out of range
module attributes {t.a = array<i128: 340282366920938463463374607431768211456>} {}

// -----

// CHECK: :[[# @LINE+1]]:40: error: integer constant out of range
module attributes {t.a = array<i8: -129>} {}

// -----

// CHECK: :[[# @LINE+1]]:39: error: integer constant out of range
module attributes {t.a = array<i16: -0>} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: expected 'true' or 'false' values for i1 type
module attributes {t.a = array<i1: 1>} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: expected i1 type for 'true' or 'false' values
module attributes {t.a = array<i16: true>} {}

// -----

// CHECK: :[[# @LINE+1]]:38: error: expected integer literal
module attributes {t.a = array<i128: 1.0>} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: expected floating point literal
module attributes {t.a = array<f32: true>} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: unexpected decimal integer literal for a floating point value
module attributes {t.a = array<f80: 1>} {}

// -----

// CHECK: :[[# @LINE+1]]:38: error: hexadecimal float literal should not have a leading minus
module attributes {t.a = array<f80: -0x1>} {}

// -----

// CHECK: :[[# @LINE+1]]:35: error: expected ':' after dense array type
module attributes {t.a = array<i32 1>} {}

// -----

// CHECK: :[[# @LINE+1]]:27: error: integer constant out of range for attribute
module attributes {t.a = -0 : i16} {}

// -----

// CHECK: :[[# @LINE+1]]:27: error: integer constant out of range for attribute
module attributes {t.a = -0 : i128} {}

// -----

// CHECK: :[[# @LINE+1]]:33: error: integer constant out of range for type
module attributes {t.a = dense<-0> : tensor<i16>} {}
