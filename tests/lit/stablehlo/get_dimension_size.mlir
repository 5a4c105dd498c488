// stablehlo.get_dimension_size: a constant where the size is known.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.get_dimension_size | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.get_dimension_size %cst, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
// OPS: stablehlo.get_dimension_size form yes yes yes extra rule whole yes
// FLAT: stablehlo.constant
// FLAT: stablehlo.constant
// FLAT: stablehlo.constant
// FLAT-NOT: stablehlo.get_dimension_size
func.func @main() -> tensor<i32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
