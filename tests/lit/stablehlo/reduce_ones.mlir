// A reduction over dimensions of one element each is elementwise: the initial value and that one.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: reduce last 1 init %{{[0-9]+}} sum
// CHECK-NOT: reduce last
// CHECK: v{{[0-9]+}}:f32=mul
// CHECK-NOT: reduce last
// CHECK: v{{[0-9]+}}:f32=max
// CHECK-NOT: reduce last
func.func @main(%x: tensor<3x1xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<1xf32>) {
  %init = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.multiply across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<3x1xf32>, tensor<f32>) -> tensor<1xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<1xf32>
}
