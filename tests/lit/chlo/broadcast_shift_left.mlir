// chlo.broadcast_shift_left: NumPy's broadcasts, then the op.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo.broadcast_shift_left | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = chlo.broadcast_shift_left %c, %c_0 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
// OPS: chlo.broadcast_shift_left form yes yes - extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.shift_left
// FLAT-NOT: chlo.broadcast_shift_left
func.func @main() -> tensor<2x3xi32> {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = stablehlo.constant dense<[3, 4, 5]> : tensor<3xi32>
  %0 = chlo.broadcast_shift_left %x, %y : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
