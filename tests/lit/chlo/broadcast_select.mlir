// chlo.broadcast_select: NumPy's broadcasts, but of a scalar predicate, then the op.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo.broadcast_select | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = chlo.broadcast_select %c, %cst, %cst_0 : (tensor<i1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// OPS: chlo.broadcast_select form yes yes - extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.select
// FLAT-NOT: chlo.broadcast_select
func.func @main() -> tensor<2x3xf32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
