// Named ops belong into functions with a topology; elsewhere they are reported, and the pass goes on.
// RUN: mpmd_opt %s -mpmd-validate-named-ops-in-mpmd-func -verify-diagnostics | FileCheck %s

// CHECK: @main
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.named_tensor %a name="t" : tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @g(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{Named tensors can only be nested in mpmd functions or mpmd ops.}}
  %0 = mpmd.named_tensor %a name="t" : tensor<8xf32>
  // expected-error@+1 {{Named computations can only be nested in mpmd functions or mpmd ops.}}
  %1 = mpmd.named_computation<"f"> (%0) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
