// stablehlo.create_token: a truth value.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.create_token | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.create_token : !stablehlo.token
// OPS: stablehlo.create_token form yes yes yes none needed whole vanishes
// FLAT: stablehlo.constant
// FLAT: stablehlo.constant
// FLAT: stablehlo.abs
// FLAT-NOT: stablehlo.create_token
func.func @main() -> (tensor<3xf32>, !stablehlo.token) {
  %t = stablehlo.create_token : !stablehlo.token
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = stablehlo.abs %y : tensor<3xf32>
  return %0, %t : tensor<3xf32>, !stablehlo.token
}
