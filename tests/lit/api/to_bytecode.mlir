// The example that writes bytecode, and the tool that reads it back.
// RUN: ir_to_bytecode %s 1.17.0 %t && terrazzo opt %t | FileCheck %s
// RUN: ir_to_bytecode %s native %t && terrazzo opt %t | FileCheck %s
// RUN: not ir_to_bytecode %S/Inputs/wrong.mlir native %t 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.add %arg0, %arg0
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// WRONG: wrong.mlir:2:1: error: redefinition of symbol named 'f'
