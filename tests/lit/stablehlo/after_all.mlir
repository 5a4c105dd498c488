// stablehlo.after_all: pred[0] at run time, as JAX gives a token.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.after_all | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %1 = stablehlo.after_all %0, %0 : !stablehlo.token
// OPS: stablehlo.after_all form yes yes yes none needed whole vanishes
// FLAT: -> (tensor<3xf32>, tensor<0xi1> {terrazzo.token})
// FLAT: stablehlo.constant
// FLAT: stablehlo.constant
// FLAT: stablehlo.constant
// FLAT: stablehlo.abs
// FLAT-NOT: stablehlo.after_all
func.func @main() -> (tensor<3xf32>, !stablehlo.token) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t, %t : !stablehlo.token
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = stablehlo.abs %y : tensor<3xf32>
  return %0, %u : tensor<3xf32>, !stablehlo.token
}
