// RUN: terrazzo opt %s -inline | FileCheck %s
// RUN: terrazzo opt %s -inline=default-pipeline= | FileCheck %s --check-prefix=RAW

// CHECK-NOT: @helper
// CHECK-LABEL: func @main
// CHECK-NEXT:    %[[K:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK-NEXT:    %[[A:.*]] = stablehlo.add %arg0, %[[K]]
// CHECK-NEXT:    %[[B:.*]] = stablehlo.add %[[A]], %[[K]]
// CHECK-NEXT:    %[[D:.*]] = call @kept(%[[B]])
// CHECK-NEXT:    return %[[D]]
// RAW-LABEL: func @main
// RAW-COUNT-2: stablehlo.constant
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @helper(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @middle(%0) : (tensor<f32>) -> tensor<f32>
  %3 = call @kept(%1) : (tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
// CHECK-NOT: @middle
func.func private @middle(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @helper(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
  %k = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.add %x, %k : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func private @kept
func.func private @kept(%x: tensor<f32>) -> tensor<f32> attributes {no_inline} {
  return %x : tensor<f32>
}

// Recursion stays as it is.
// CHECK-LABEL: func @outer
// CHECK-NEXT:    call @ping
func.func @outer(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @ping(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func @ping
// CHECK: call @pong
func.func @ping(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @pong(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @pong(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @ping(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func @self
// CHECK-NEXT: call @self
func.func @self(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @self(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
