// chlo.broadcast_power: NumPy's broadcasts, then the op.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo.broadcast_power | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = chlo.broadcast_power %cst, %cst_0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// OPS: chlo.broadcast_power form yes yes - extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.power
// FLAT-NOT: chlo.broadcast_power
func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = chlo.broadcast_power %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
