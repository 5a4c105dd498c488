// What starts a reduction may be of a wider type than what is reduced. A sum has nothing to add where
// a window reaches out, in the type of what it reads; of a maximum there may be no such element, and
// its operand is whole.
// RUN: terrazzo partition %s 2>&1 | FileCheck %s

// CHECK: remark: 'stablehlo.reduce' op needs dimension 0 of operand 0 whole
// CHECK: func.func @main
// CHECK: stablehlo.reduce{{.*}} : (tensor<7x4xf16>, tensor<f64>) -> tensor<4xf64>
// CHECK: "stablehlo.collective_permute"{{.*}} : (tensor<1x4xf16>) -> tensor<1x4xf16>
// CHECK: "stablehlo.reduce_window"
// CHECK: : (tensor<6x4xf16>, tensor<f64>) -> tensor<4x4xf64>
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x4xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"},{}]>}) -> (tensor<4xf64>, tensor<4xf64>, tensor<8x4xf64>) {
  %z = stablehlo.constant dense<1.0e300> : tensor<f64>
  %y = stablehlo.slice %x [1:8, 0:4] : (tensor<8x4xf16>) -> tensor<7x4xf16>
  %0 = "stablehlo.reduce"(%y, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.maximum %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
  }) : (tensor<7x4xf16>, tensor<f64>) -> tensor<4xf64>
  %1 = "stablehlo.reduce"(%y, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
  }) : (tensor<7x4xf16>, tensor<f64>) -> tensor<4xf64>
  %2 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
  }) : (tensor<8x4xf16>, tensor<f64>) -> tensor<8x4xf64>
  return %0, %1, %2 : tensor<4xf64>, tensor<4xf64>, tensor<8x4xf64>
}
