// Functions as values: func.constant and func.call_indirect, and function types by an alias.
// RUN: sdy_opt %s -split-input-file -verify-diagnostics | FileCheck %s
// RUN: sdy_opt %s -split-input-file -verify-diagnostics -canonicalize | FileCheck %s --check-prefix=CANON

!unary = (i32) -> i32
func.func private @one(i32) -> i32
// CHECK-LABEL: func.func @calls(%arg0: i32, %arg1: (i32) -> i32)
// CANON-LABEL: func.func @calls
func.func @calls(%a: i32, %h: !unary) -> i32 {
  // CHECK-NEXT: %f = constant @one : (i32) -> i32
  // CANON-NEXT: %[[A:.*]] = call @one(%arg0) : (i32) -> i32
  %f = constant @one : !unary
  // CHECK-NEXT: %f_0 = constant {x} @one : (i32) -> i32
  %g = func.constant {x} @one : !unary
  // CHECK-NEXT: %0 = call_indirect %f(%arg0) {y = 1 : i32} : (i32) -> i32
  %0 = call_indirect %f(%a) {y = 1 : i32} : !unary
  // CHECK-NEXT: %1 = call_indirect %arg1(%0) : (i32) -> i32
  // CANON-NEXT: %[[B:.*]] = call_indirect %arg1(%[[A]]) : (i32) -> i32
  %1 = func.call_indirect %h(%0) : (i32) -> i32
  // CHECK-NEXT: %2 = call @one(%1) : (i32) -> i32
  %2 = call @one(%1) : !unary
  return %2 : i32
}

// -----

func.func @unknown() {
  // expected-error@+1 {{'func.constant' op reference to undefined function 'nope'}}
  %0 = constant @nope : () -> ()
  return
}

// -----

func.func @other_type() {
  // expected-error@+1 {{'func.constant' op reference to function with mismatched type}}
  %0 = constant @other_type : () -> i32
  return
}

// -----

func.func @no_function(%a: i32) {
  // expected-error@+1 {{'func.call_indirect' op operand #0 must be function type, but got 'i32'}}
  "func.call_indirect"(%a) : (i32) -> ()
  return
}

// -----

func.func @inputs(%a: i32, %h: () -> ()) {
  // expected-error@+1 {{'func.call_indirect' op failed to verify that callee input types match argument types}}
  "func.call_indirect"(%h, %a) : (() -> (), i32) -> ()
  return
}

// -----

func.func @results(%h: () -> ()) {
  // expected-error@+1 {{'func.call_indirect' op failed to verify that callee result types match result types}}
  %0 = "func.call_indirect"(%h) : (() -> ()) -> i32
  return
}

// -----

func.func @too_many(%a: i32, %h: (i32) -> ()) {
  // expected-error@+1 {{custom op 'func.call_indirect' number of operands and types do not match: got 2 operands and 1 types}}
  call_indirect %h(%a, %a) : (i32) -> ()
  return
}

// -----

func.func @no_type(%a: i32, %h: (i32) -> ()) {
  // expected-error@+1 {{custom op 'func.call_indirect' invalid kind of type specified: expected builtin.function, but found 'i32'}}
  call_indirect %h(%a) : i32
  return
}
