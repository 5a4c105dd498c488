// stablehlo.constant
// RUN: terrazzo opt %s | FileCheck %s

func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %cst = stablehlo.constant dense<[[1.000000e+00, 2.500000e+00], [-0.000000e+00, 0x7F800000]]> : tensor<2x2xf32>
  %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %c_0 = stablehlo.constant dense<-7> : tensor<8x4xi32>
  %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %cst_2 = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<complex<f32>>
  %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<8x4xf32>
  return %cst_3 : tensor<8x4xf32>
}

// CHECK: func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:   %cst = stablehlo.constant dense<{{\[\[}}1.000000e+00, 2.500000e+00], [-0.000000e+00, 0x7F800000{{\]\]}}> : tensor<2x2xf32>
// CHECK-NEXT:   %c = stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<-7> : tensor<8x4xi32>
// CHECK-NEXT:   %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
// CHECK-NEXT:   %cst_2 = stablehlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<complex<f32>>
// CHECK-NEXT:   %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<8x4xf32>
// CHECK-NEXT:   return %cst_3 : tensor<8x4xf32>
// CHECK-NEXT: }

// CHECK: %c = stablehlo.constant sparse<{{\[\[}}0], [2{{\]\]}}, [4, 5]> : tensor<3xi32>
// CHECK-NEXT: %cst = stablehlo.constant sparse<> : tensor<2xf32>
func.func @sparse() -> (tensor<3xi32>, tensor<2xf32>) {
  %0 = stablehlo.constant sparse<[[0], [2]], [4, 5]> : tensor<3xi32>
  %1 = "stablehlo.constant"() {value = sparse<> : tensor<2xf32>} : () -> tensor<2xf32>
  return %0, %1 : tensor<3xi32>, tensor<2xf32>
}
