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

// -----

func.func @operand_lists(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'chlo.scan' op attribute 'operandSegmentSizes' has to be an i32 array of 2 elements}}
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 1 : i64, operandSegmentSizes = array<i1: true>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    stablehlo.return %x, %y : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return
}

// -----

func.func @negative_list(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'chlo.scan' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 3, -1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    stablehlo.return %x, %y : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return
}

// -----

func.func @result_lists(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'chlo.scan' op result count (2) does not match with the total size (4) specified in attribute 'resultSegmentSizes'}}
  %0:2 = "chlo.scan"(%a, %b) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 3, 1>}> ({
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
    stablehlo.return %x, %y : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return
}
