// Named computations keep the operands that they use and the results that are used, each once.
// RUN: mpmd_opt %s -mpmd-simplify-named-computations | FileCheck %s

// CHECK-LABEL: @main
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK-NEXT: %[[V:.*]] = mpmd.named_computation<"f"> (%arg0) (%arg2: tensor<8xf32>) {
  // CHECK-NEXT: %[[NEG:.*]] = stablehlo.negate %arg2
  // CHECK-NEXT: mpmd.return %[[NEG]] : tensor<8xf32>
  // CHECK: return %[[V]], %[[V]], %arg1, %arg1
  %0:5 = mpmd.named_computation<"f"> (%a, %b, %a) (%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) {
    %1 = stablehlo.negate %z : tensor<8xf32>
    %2 = stablehlo.optimization_barrier %y : tensor<8xf32>
    %3 = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %1, %1, %y, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
