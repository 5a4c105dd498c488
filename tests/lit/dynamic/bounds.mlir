// A size with a bound follows from the argument.
// RUN: stablehlo-translate --interpret --args='[dense<[1.0, 2.0, 4.0]> : tensor<3xf32>]' %s | FileCheck %s
// RUN: not terrazzo run %s 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: tensor<f32> {7.000000e+00
// NONE: error: 'func.func' op is not implemented: argument 0 of a shape that is not known: 'tensor<?xf32, #stablehlo.bounds<8>>'
func.func @main(%a: tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #stablehlo.bounds<8>>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}
