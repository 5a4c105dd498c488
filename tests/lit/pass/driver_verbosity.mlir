// Warnings may be left out, with the notes on them; errors are always said.
// RUN: terrazzo opt %s -sdy-import-func-calls 2>&1 | FileCheck %s
// RUN: terrazzo opt %s -sdy-import-func-calls -mlir-diagnostic-verbosity-level=errors 2>&1 | FileCheck %s --check-prefix=QUIET --implicit-check-not=warning
// RUN: not terrazzo opt %s -mlir-diagnostic-verbosity-level=notes 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: --mlir-diagnostic-verbosity-level is errors, warnings or remarks

// CHECK: warning: function @f has multiple call ops
// QUIET: func.func @main
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
