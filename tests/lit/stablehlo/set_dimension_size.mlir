// stablehlo.set_dimension_size: its operand where that has the size already.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.set_dimension_size | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %1 = stablehlo.set_dimension_size %0, %c, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
// OPS: stablehlo.set_dimension_size form yes yes yes extra rule whole yes
// FLAT: stablehlo.add
// FLAT-NOT: stablehlo.set_dimension_size
func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.add %x, %x : tensor<2x3xf32>
  %0 = stablehlo.set_dimension_size %1, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
