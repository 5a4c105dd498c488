// Small windows inside of their operand are a loop over results; padded ones are not, nor are sums of
// smaller floats, which round otherwise.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

func.func @main(%x: tensor<6x9x32xbf16>, %y: tensor<6x9x32xf32>) -> (tensor<3x4x32xbf16>, tensor<2x9x32xf32>, tensor<3x9x32xf32>, tensor<3x9x32xbf16>) {
  %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %none = stablehlo.constant dense<0.0> : tensor<bf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 2, 2, 1>, window_strides = array<i64: 2, 2, 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %r = stablehlo.maximum %a, %b : tensor<bf16>
    stablehlo.return %r : tensor<bf16>
  }) : (tensor<6x9x32xbf16>, tensor<bf16>) -> tensor<3x4x32xbf16>
  %1 = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 2, 1, 1>, window_dilations = array<i64: 4, 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<6x9x32xf32>, tensor<f32>) -> tensor<2x9x32xf32>
  %2 = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 3, 1, 1>, window_strides = array<i64: 2, 1, 1>, padding = dense<[[1, 0], [0, 0], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<6x9x32xf32>, tensor<f32>) -> tensor<3x9x32xf32>
  %3 = "stablehlo.reduce_window"(%x, %none) <{window_dimensions = array<i64: 2, 1, 1>, window_strides = array<i64: 2, 1, 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %r = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %r : tensor<bf16>
  }) : (tensor<6x9x32xbf16>, tensor<bf16>) -> tensor<3x9x32xbf16>
  return %0, %1, %2, %3 : tensor<3x4x32xbf16>, tensor<2x9x32xf32>, tensor<3x9x32xf32>, tensor<3x9x32xbf16>
}

// CHECK: stablehlo.reduce_window: loop [3,4,32] in %{{.*}}[0,0,0] %0[576,64,1] %0+32[576,64,1] %0+288[576,64,1] %0+320[576,64,1] out
// CHECK: stablehlo.reduce_window: loop [2,9,32] in %{{.*}}[0,0,0] %1[288,32,1] %1+1152[288,32,1] out
// CHECK: stablehlo.reduce_window: window
// CHECK: stablehlo.reduce_window: window
