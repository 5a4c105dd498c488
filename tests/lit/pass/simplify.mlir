// RUN: terrazzo opt %s --stablehlo-aggressive-simplification --split-input-file | FileCheck %s

// CHECK-LABEL: func @neutral
// CHECK-NEXT:    return %arg0, %arg1, %arg0
func.func @neutral(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %ones = stablehlo.constant dense<-1> : tensor<4xi32>
  %0 = stablehlo.add %z, %x : tensor<4xf32>
  %1 = stablehlo.multiply %0, %one : tensor<4xf32>
  %2 = stablehlo.and %ones, %y : tensor<4xi32>
  %3 = stablehlo.subtract %x, %z : tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
}

// -----

// The bits 0 of f8E8M0FNU are its least number.
// CHECK-LABEL: func @no_zero
// CHECK:         stablehlo.add
func.func @no_zero(%x: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  %z = stablehlo.constant dense<"0x00"> : tensor<4xf8E8M0FNU>
  %0 = stablehlo.add %x, %z : tensor<4xf8E8M0FNU>
  return %0 : tensor<4xf8E8M0FNU>
}

// -----

// CHECK-LABEL: func @absorbing
// CHECK-NEXT:    %[[F:.*]] = stablehlo.constant dense<0.000000e+00>
// CHECK-NEXT:    %[[Z:.*]] = stablehlo.constant dense<0> : tensor<4xi32>
// CHECK-NEXT:    %[[M:.*]] = stablehlo.multiply %arg0, %[[F]]
// CHECK-NEXT:    return %[[M]], %[[Z]]
func.func @absorbing(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %f = stablehlo.constant dense<0.0> : tensor<4xf32>
  %z = stablehlo.constant dense<0> : tensor<4xi32>
  %0 = stablehlo.multiply %f, %x : tensor<4xf32>
  %1 = stablehlo.multiply %z, %y : tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func @shapes
// CHECK-NEXT:    %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
// CHECK-NEXT:    return %arg0, %[[B]], %[[R]]
func.func @shapes(%x: tensor<2x3xf32>, %y: tensor<3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3x5xf32>, tensor<1x2x3xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x5xf32>
  %4 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %5 = stablehlo.reshape %4 : (tensor<6xf32>) -> tensor<1x2x3xf32>
  return %1, %3, %5 : tensor<2x3xf32>, tensor<2x3x5xf32>, tensor<1x2x3xf32>
}

// -----

// CHECK-LABEL: func @complex
// CHECK-NEXT:    return %arg0, %arg1
func.func @complex(%x: tensor<complex<f32>>, %y: tensor<f32>) -> (tensor<complex<f32>>, tensor<f32>) {
  %0 = stablehlo.real %x : (tensor<complex<f32>>) -> tensor<f32>
  %1 = stablehlo.imag %x : (tensor<complex<f32>>) -> tensor<f32>
  %2 = stablehlo.complex %0, %1 : tensor<complex<f32>>
  %3 = stablehlo.complex %0, %y : tensor<complex<f32>>
  %4 = stablehlo.imag %3 : (tensor<complex<f32>>) -> tensor<f32>
  return %2, %4 : tensor<complex<f32>>, tensor<f32>
}

// -----

// A sharding is not lost.
// CHECK-LABEL: func @attributes
// CHECK:         stablehlo.reshape
func.func @attributes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reshape %x {mark} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
