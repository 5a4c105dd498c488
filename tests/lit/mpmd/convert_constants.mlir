// Constants of sdy, which do not fold, become StableHLO's.
// RUN: mpmd_opt %s -mpmd-convert-sdy-constants | FileCheck %s

// CHECK: stablehlo.constant {mark} dense<1.000000e+00> : tensor<8xf32>
func.func @main() -> tensor<8xf32> {
  %0 = sdy.constant {mark} dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
