// stablehlo.batch_norm_inference: the specification's formulas.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.batch_norm_inference | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = "stablehlo.batch_norm_inference"(%cst, %cst_0, %cst_0, %cst_0, %cst_0) <{epsilon = 5.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// OPS: stablehlo.batch_norm_inference generic yes yes yes rule split yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.subtract
// FLAT: stablehlo.add
// FLAT: stablehlo.sqrt
// FLAT: stablehlo.divide
// FLAT: stablehlo.multiply
// FLAT: stablehlo.add
// FLAT-NOT: stablehlo.batch_norm_inference
func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = "stablehlo.batch_norm_inference"(%x, %y, %y, %y, %y) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
