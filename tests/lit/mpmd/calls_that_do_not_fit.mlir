// Shardy's verifier pairs what a call has with what its function has as far as both go; passes that
// rewrite both refuse what does not fit.
// RUN: mpmd_opt %s | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-erase-unused-callee-block-arguments 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not mpmd_opt %s -mpmd-sink-negligible-ops-into-call-op 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: mpmd.call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// ERROR: calls_that_do_not_fit.mlir:[[@LINE+2]]:8: error: 'mpmd.call' op expected 2 operands and 1 results, as its function has, but found 1 and 1
func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  return %a : tensor<8xf32>
}
