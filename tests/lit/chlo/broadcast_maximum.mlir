// chlo.broadcast_maximum: NumPy's broadcasts, then the op.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo.broadcast_maximum | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = chlo.broadcast_maximum %cst, %cst_0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// OPS: chlo.broadcast_maximum form yes yes - extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.maximum
// FLAT-NOT: chlo.broadcast_maximum
func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = chlo.broadcast_maximum %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
