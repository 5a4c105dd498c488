// chlo._asin_acos_kernel: a formula.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo._asin_acos_kernel | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = chlo._asin_acos_kernel %cst : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
// OPS: chlo._asin_acos_kernel form yes yes - extra rule whole yes
// FLAT: stablehlo.real
// FLAT: stablehlo.abs
// FLAT: stablehlo.imag
// FLAT: stablehlo.complex
// FLAT-NOT: chlo._asin_acos_kernel
func.func @main() -> tensor<2xcomplex<f32>> {
  %z = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
  %0 = chlo._asin_acos_kernel %z : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
