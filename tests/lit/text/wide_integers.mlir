// RUN: not terrazzo opt %s 2>&1 | FileCheck %s
// A constant of an absurd width is read into memory of its own size, not into a fixed buffer.
// CHECK: wide_integers.mlir:[[#@LINE+2]]:{{[0-9]+}}: error:
func.func @wide() -> tensor<ui644> {
  %0 = stablehlo.constant dense<2> : tensor<ui644>
  return %0 : tensor<ui644>
}
