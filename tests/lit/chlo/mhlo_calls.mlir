// JAX up to 0.9.0 sends chlo's ops of one operand as custom calls; another name stays one.
// RUN: not terrazzo run %s --dump flatten 2>&1 | FileCheck %s

// CHECK: chlo.erf %arg0
// CHECK: stablehlo.custom_call @mhlo.nothing
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @mhlo.nothing(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
