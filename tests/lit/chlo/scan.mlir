// RUN: terrazzo opt -split-input-file -verify-diagnostics %s | FileCheck %s --strict-whitespace

// CHECK-LABEL: func.func @sum
// CHECK: %0:2 = chlo.scan(%arg0) inits (%arg1) dimension=1  attributes {is_reverse = true} {
// CHECK-NEXT:   ^bb0(%input: tensor<2xf32>, %carry: tensor<2xf32>):
func.func @sum(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32> {
  %0:2 = chlo.scan(%a) inits (%b) dimension = 1 attributes {is_reverse = true} {
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    %1 = stablehlo.add %x, %y : tensor<2xf32>
    stablehlo.return %1, %1 : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %0#0 : tensor<2x3xf32>
}

// -----

func.func @bounds(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'chlo.scan' op scan dimension of operand 0 is out of bounds}}
  %0:2 = chlo.scan(%a) inits (%b) dimension = 2 {
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    stablehlo.return %x, %y : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return
}

// -----

func.func @init(%a: tensor<2x3xf32>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'chlo.scan' op operand and body argument 1 are incompatible}}
  %0:2 = chlo.scan(%a) inits (%b) dimension = 1 {
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    stablehlo.return %x, %y : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x3xf32>, tensor<2xi32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return
}
