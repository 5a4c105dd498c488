// stablehlo.uniform_quantize: x / scale + zero point, clamped, rounded.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.uniform_quantize | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.uniform_quantize %cst : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-20>>
// OPS: stablehlo.uniform_quantize form yes - yes rule whole vanishes
// FLAT: stablehlo.divide
// FLAT: stablehlo.add
// FLAT: stablehlo.clamp
// FLAT: stablehlo.round_nearest_even
// FLAT: stablehlo.convert
// FLAT: stablehlo.bitcast_convert
// FLAT-NOT: stablehlo.uniform_quantize
func.func @main() -> (tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-20>>) {
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = stablehlo.uniform_quantize %y : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-20>>
  return %0 : tensor<3x!quant.uniform<i8:f32, 5.000000e-01:-20>>
}
