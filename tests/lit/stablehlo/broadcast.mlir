// stablehlo.broadcast: new first dimensions.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.broadcast | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.broadcast %cst, sizes = [2, 1] : (tensor<2x3xf32>) -> tensor<2x1x2x3xf32>
// OPS: stablehlo.broadcast form yes yes yes extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT-NOT: stablehlo.broadcast
func.func @main() -> tensor<2x1x2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = stablehlo.broadcast %x, sizes = [2, 1] : (tensor<2x3xf32>) -> tensor<2x1x2x3xf32>
  return %0 : tensor<2x1x2x3xf32>
}
