// stablehlo.uniform_dequantize: (storage - zero point) * scale.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.uniform_dequantize | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.uniform_dequantize %cst : (tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-20>>) -> tensor<3xf32>
// OPS: stablehlo.uniform_dequantize form yes yes yes rule whole vanishes
// FLAT: stablehlo.bitcast_convert
// FLAT: stablehlo.convert
// FLAT: stablehlo.subtract
// FLAT: stablehlo.convert
// FLAT: stablehlo.multiply
// FLAT-NOT: stablehlo.uniform_dequantize
func.func @main() -> tensor<3xf32> {
  %q = stablehlo.constant() {value = dense<[1, 2, 3]> : tensor<3xi8>} : () -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-20>>
  %0 = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-20>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
