// stablehlo.unary_einsum: a diagonal, and a transpose.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.unary_einsum | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.unary_einsum %cst, config = "aba->ba" : (tensor<3x2x3xf32>) -> tensor<2x3xf32>
// OPS: stablehlo.unary_einsum form yes - yes extra rule whole yes
// FLAT: stablehlo.iota
// FLAT: stablehlo.iota
// FLAT: stablehlo.compare
// FLAT: stablehlo.select
// FLAT: stablehlo.reduce
// FLAT: stablehlo.transpose
// FLAT-NOT: stablehlo.unary_einsum
func.func @main() -> tensor<2x3xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<3x2x3xf32>
  %0 = stablehlo.unary_einsum %a, config = "aba->ba" : (tensor<3x2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
