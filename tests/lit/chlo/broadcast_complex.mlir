// chlo.broadcast_complex: NumPy's broadcasts, then the op.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo.broadcast_complex | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = chlo.broadcast_complex %cst, %cst_0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
// OPS: chlo.broadcast_complex form yes yes - extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.complex
// FLAT-NOT: chlo.broadcast_complex
func.func @main() -> tensor<2x3xcomplex<f32>> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = chlo.broadcast_complex %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  return %0 : tensor<2x3xcomplex<f32>>
}
