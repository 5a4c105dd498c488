// stablehlo.einsum: a sum of what one operand has alone, a product with batches, a transpose.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.einsum | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.einsum %cst, %cst_0, config = "bijx,bjk->bki" : (tensor<2x3x4x7xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>
// OPS: stablehlo.einsum form yes - yes extra rule whole yes
// FLAT: stablehlo.reduce
// FLAT: stablehlo.dot_general
// FLAT: stablehlo.transpose
// FLAT-NOT: stablehlo.einsum
func.func @main() -> tensor<2x5x3xf32> {
  %a = stablehlo.constant dense<2.0> : tensor<2x3x4x7xf32>
  %b = stablehlo.constant dense<3.0> : tensor<2x4x5xf32>
  %0 = stablehlo.einsum %a, %b, config = "bijx,bjk->bki" : (tensor<2x3x4x7xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}
