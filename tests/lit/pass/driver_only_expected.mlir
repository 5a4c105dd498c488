// RUN: terrazzo opt %s -split-input-file -verify-diagnostics=only-expected
// RUN: not terrazzo opt %s -split-input-file -verify-diagnostics=all 2>&1 | FileCheck %s

// CHECK-NOT: error
// CHECK: :[[# @LINE+2]]:10: error: unexpected error: use of undeclared SSA value name
func.func @unexpected() {
  return %x : tensor<f32>
}

// -----

func.func @expected() {
  // expected-error @below {{use of undeclared SSA value name}}
  return %x : tensor<f32>
}
