// Parts of a file: where errors are is told by the lines of the file.
// RUN: not terrazzo opt %s -split-input-file 2>&1 >/dev/null | FileCheck %s
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics=only-expected
// RUN: not terrazzo opt %s -split-input-file=// -verify-diagnostics=only 2>&1 | FileCheck %s --check-prefix=WORD

// WORD: --verify-diagnostics is all or only-expected
func.func @fine() {
  return
}

// -----

func.func @wrong() {
  // CHECK: :[[# @LINE+2]]:10: error: use of undeclared SSA value name
  // expected-error @+1 {{use of undeclared SSA value name}}
  return %x : tensor<f32>
}
