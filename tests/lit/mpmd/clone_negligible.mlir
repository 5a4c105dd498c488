// What an op without operands makes in a named computation is made again for others, but not for
// the function's own results.
// RUN: mpmd_opt %s -mpmd-insert-nameless-clone-of-negligible-ops | FileCheck %s

// CHECK-LABEL: @main
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK: %[[F:.*]]:2 = mpmd.named_computation<"f">
  // CHECK: mpmd.return
  // CHECK: %[[C:.*]] = stablehlo.constant dense<1.0
  // CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[C]], %[[F]]#1
  // CHECK-NEXT: return %[[ADD]], %[[F]]#0
  %0:2 = mpmd.named_computation<"f"> (%a) (%x: tensor<8xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %2 = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %1, %2 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3 = stablehlo.add %0#0, %0#1 : tensor<8xf32>
  return %3, %0#0 : tensor<8xf32>, tensor<8xf32>
}
