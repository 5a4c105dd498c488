// stablehlo.rng: bits of rng_bit_generator as numbers of the distribution.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.rng | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.rng %cst, %cst_0, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
// OPS: stablehlo.rng form yes yes yes extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.rng_bit_generator
// FLAT: stablehlo.shift_right_logical
// FLAT: stablehlo.or
// FLAT: stablehlo.bitcast_convert
// FLAT: stablehlo.subtract
// FLAT: stablehlo.subtract
// FLAT: stablehlo.multiply
// FLAT: stablehlo.add
// FLAT: stablehlo.compare
// FLAT: stablehlo.select
// FLAT-NOT: stablehlo.rng
func.func @main() -> tensor<4xf32> {
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
