// RUN: stablehlo-translate --interpret --args='[dense<[1, -2]> : tensor<2xi4>, dense<1.5> : tensor<bf16>]' %s | FileCheck %s
// RUN: stablehlo-translate --interpret --interpreter-print-dense --args='[dense<[1, -2]> : tensor<2xi4>, dense<1.5> : tensor<bf16>]' %s | FileCheck %s --check-prefix=DENSE
// RUN: not stablehlo-translate --interpret %s 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not stablehlo-translate --interpret --args='[dense<1> : tensor<2xi4>, dense<1.5> : tensor<f16>]' %s 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not stablehlo-translate --interpret --args='1' %s 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not stablehlo-translate --interpret --args='[1]' %s 2>&1 | FileCheck %s --check-prefix=ITEM

// CHECK: tensor<2xi4> {
// CHECK-NEXT: {{^}}  [2, -4]
// CHECK-NEXT: }
// CHECK-NEXT: tensor<bf16> {3.000000e+00}
// CHECK-NEXT: tensor<2x1x2xi32> {
// CHECK-NEXT: {{^}}  [
// CHECK-NEXT: {{^}}    [
// CHECK-NEXT: {{^}}      [0, 0]
// CHECK-NEXT: {{^}}    ],
// CHECK-NEXT: {{^}}    [
// CHECK-NEXT: {{^}}      [1, 1]
// CHECK-NEXT: {{^}}    ]
// CHECK-NEXT: {{^}}  ]
// CHECK-NEXT: }
// CHECK-NEXT: tensor<2x0xcomplex<f64>> {
// CHECK-NEXT: {{^}}  [
// CHECK-NEXT: {{^}}    [],
// CHECK-NEXT: {{^}}    []
// CHECK-NEXT: {{^}}  ]
// CHECK-NEXT: }
// CHECK-NEXT: tensor<1xcomplex<f32>> {
// CHECK-NEXT: {{^}}  {{\[}}[1.000000e+00, -2.000000e+00]]
// DENSE: dense<[2, -4]> : tensor<2xi4>
// DENSE-NEXT: dense<3.000000e+00> : tensor<bf16>
// DENSE-NEXT: dense<{{\[\[\[}}0, 0]], {{\[\[}}1, 1]]]> : tensor<2x1x2xi32>
// DENSE-NEXT: dense<> : tensor<2x0xcomplex<f64>>
// DENSE-NEXT: dense<(1.000000e+00,-2.000000e+00)> : tensor<1xcomplex<f32>>
// FEW: error: incorrect number of arguments specified, provided 0 inputs but function expected 2
// TYPE: error: invalid input argument type at index 1, input type was 'tensor<f16>' but entry function expected 'tensor<bf16>'
// LIST: expectected array attribute string for args, i.e. --args=[dense<1> : tensor<2xi32>, ...]
// ITEM: expected dense elements attribute for args elements, i.e. --args=[dense<1> : tensor<2xi32>, ...]
func.func @anything(%a: tensor<2xi4>, %b: tensor<bf16>) -> (tensor<2xi4>, tensor<bf16>, tensor<2x1x2xi32>, tensor<2x0xcomplex<f64>>, tensor<1xcomplex<f32>>) {
  %0 = stablehlo.add %a, %a : tensor<2xi4>
  %1 = stablehlo.add %b, %b : tensor<bf16>
  %2 = stablehlo.iota dim = 0 : tensor<2x1x2xi32>
  %3 = stablehlo.constant dense<> : tensor<2x0xcomplex<f64>>
  %4 = stablehlo.constant dense<(1.0, -2.0)> : tensor<1xcomplex<f32>>
  return %0, %1, %2, %3, %4 : tensor<2xi4>, tensor<bf16>, tensor<2x1x2xi32>, tensor<2x0xcomplex<f64>>, tensor<1xcomplex<f32>>
}
