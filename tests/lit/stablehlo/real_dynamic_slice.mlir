// stablehlo.real_dynamic_slice: a slice where bounds are constants.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.real_dynamic_slice | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.real_dynamic_slice %cst, %c, %c_1, %c_2 : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// OPS: stablehlo.real_dynamic_slice form yes - yes extra rule whole yes
// FLAT: stablehlo.slice
// FLAT-NOT: stablehlo.real_dynamic_slice
func.func @main() -> tensor<2x2xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %s = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %l = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %t = stablehlo.constant dense<1> : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
