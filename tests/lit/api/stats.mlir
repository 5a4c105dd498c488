// The example that parses and walks; and a diagnostic through its callback.
// RUN: ir_stats %s | FileCheck %s
// RUN: not ir_stats %S/Inputs/wrong.mlir | FileCheck %s --check-prefix=WRONG

// CHECK: 7 ops, 4 bytes of constants, 1 ops with a sharding
// CHECK-NEXT: 2 stablehlo.add
// CHECK: 1 func.return
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %1 = stablehlo.add %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
  %2 = stablehlo.add %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// WRONG: error in {{.*}}wrong.mlir, line 2: redefinition of symbol named 'f'
// WRONG-NEXT:   line 1: see existing symbol definition here
