// The result's type says the shape, known or not.
// RUN: stablehlo-translate --interpret --args='[dense<[3, 2]> : tensor<2xi32>]' %s | FileCheck %s
// CHECK: tensor<3x2xi32> {
// CHECK: [0, 1],
func.func @main(%shape: tensor<2xi32>) -> tensor<3x2xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<6xi32>
  %1 = stablehlo.dynamic_reshape %0, %shape : (tensor<6xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  return %1 : tensor<3x2xi32>
}
