// RUN: not stablehlo-translate --interpret -split-input-file %s > %t.out 2> %t.err
// RUN: FileCheck %s < %t.out
// RUN: FileCheck %s --check-prefix=ERR < %t.err

// CHECK: [-1, 0, -1, 1]
func.func @main() -> tensor<4xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<3xi32>
  %k = stablehlo.constant dense<-1> : tensor<i32>
  %low = stablehlo.constant dense<1> : tensor<1xi64>
  %high = stablehlo.constant dense<-2> : tensor<1xi64>
  %1 = stablehlo.dynamic_pad %0, %k, %low, %high, %low : (tensor<3xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

// ERR: error: 'stablehlo.dynamic_pad' op pads by numbers that are not known before it runs
func.func @main(%low: tensor<1xi64>) -> tensor<4xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<3xi32>
  %k = stablehlo.constant dense<-1> : tensor<i32>
  %1 = stablehlo.dynamic_pad %0, %k, %low, %low, %low : (tensor<3xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}
