// A barrier of a constant is a constant expression, and is split with it.
// RUN: terrazzo opt %s -sdy-constant-or-scalar-splitter | FileCheck %s

func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
  %0 = sdy.propagation_barrier %cst allowed_direction=BACKWARD : tensor<8xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<8xf32>
  %2 = stablehlo.add %arg1, %0 : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// CHECK:      %0 = sdy.constant
// CHECK-NEXT: %1 = sdy.constant
// CHECK-NEXT: %2 = sdy.propagation_barrier %0 allowed_direction=BACKWARD
// CHECK-NEXT: %3 = sdy.propagation_barrier %1 allowed_direction=BACKWARD
// CHECK-NEXT: %4 = stablehlo.add %arg0, %2
// CHECK-NEXT: %5 = stablehlo.add %arg1, %3
