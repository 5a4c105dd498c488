// What ops require of quantized operands and results.
// RUN: not terrazzo opt -split-input-file %s 2>&1 | FileCheck %s

// dot_general_c15
// CHECK: error: Zero point of rhs should be 0
func.func @dot_zero(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3x4x!quant.uniform<i8:f32, 0.25:7>>)
    -> tensor<2x4x!quant.uniform<i32:f32, 0.125>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>, tensor<3x4x!quant.uniform<i8:f32, 0.25:7>>)
      -> tensor<2x4x!quant.uniform<i32:f32, 0.125>>
  return %0 : tensor<2x4x!quant.uniform<i32:f32, 0.125>>
}

// -----

// dot_general_c16
// CHECK: error: Quantization dimension of rhs should not be in the contracting dimension of rhs
func.func @dot_axis(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3x4x!quant.uniform<i8:f32:0, {0.25, 0.5, 0.75}>>)
    -> tensor<2x4x!quant.uniform<i32:f32, 0.125>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>, tensor<3x4x!quant.uniform<i8:f32:0, {0.25, 0.5, 0.75}>>)
      -> tensor<2x4x!quant.uniform<i32:f32, 0.125>>
  return %0 : tensor<2x4x!quant.uniform<i32:f32, 0.125>>
}

// -----

// reshape_c1
// CHECK: error: expect same quantization scale and zero_point but got 'tensor<6x!quant.uniform<i8:f32, 5.000000e-01>>' vs 'tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01>>'
func.func @reshape(%a: tensor<6x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.25>> {
  %0 = stablehlo.reshape %a : (tensor<6x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.25>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 0.25>>
}

// -----

// transpose_c4
// CHECK: error: operand quantization_dimension 0 is not same as permutation[0] = 1
func.func @transpose(%a: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>> {
  %0 = stablehlo.transpose %a, dims = [1, 0]
      : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
}

// -----

// broadcast_in_dim_c6
// CHECK: error: mismatch result scale 1 (2.500000e-01) and operand scale 0 (5.000000e-01)
func.func @broadcast(%a: tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0]
      : (tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return %0 : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
}

// -----

// add_c3
// CHECK: error: mismatched operands and result quantization storage types
func.func @add(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i4:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i4:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}
