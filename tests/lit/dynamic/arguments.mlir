// Sizes that a program leaves open follow from the arguments that it is given.
// RUN: stablehlo-translate --interpret --args='[dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>]' %s | FileCheck %s
// RUN: not stablehlo-translate --interpret --args='[dense<1.0> : tensor<1x2xf32>]' %s 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not stablehlo-translate --interpret --args='[dense<1.0> : tensor<3x3xf32>]' %s 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not stablehlo-translate --interpret --args='[dense<1.0> : tensor<6xf32>]' %s 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not terrazzo run %s 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: tensor<3xf32> {
// CHECK-NEXT: [6.000000e+00, 1.000000e+01, 1.400000e+01]
// CHECK: tensor<1x6xi32> {
// CHECK: [0, 2, 4, 6, 8, 10]
// CHECK: tensor<2x2xf32> {
// CHECK: [3.000000e+00, 4.000000e+00],
// CHECK: [5.000000e+00, 6.000000e+00]
// CHECK: tensor<4x5xf32> {
// CHECK: [7.000000e+00, 1.000000e+00, 7.000000e+00, 2.000000e+00, 7.000000e+00],
// ASSERT: error: 'stablehlo.custom_call' op wants 2 rows, has 1 {9} {x}
// SIZE: error: 'func.func' op has 'tensor<?x2xf32>' where 'tensor<3x3xf32>' follows
// RANK: error: 'func.func' op takes 'tensor<?x2xf32>' as argument 0, not one of shape '6'
// NONE: error: 'func.func' op is not implemented: argument 0 of a shape that is not known: 'tensor<?x2xf32>'
func.func @main(%a: tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %holds = stablehlo.compare GE, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%holds, %two, %n) {error_message = "wants {0} rows, has {1} {9} {x}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %r:4 = call @body(%n, %a) : (tensor<i32>, tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>
}

func.func private @body(%n: tensor<i32>, %a: tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %i1 = stablehlo.constant dense<1> : tensor<i32>
  %v1 = stablehlo.constant dense<1> : tensor<1xi32>
  %v2 = stablehlo.constant dense<2> : tensor<1xi32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %v2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>

  // through a loop
  %w:3 = stablehlo.while(%x = %a, %k = %i0, %s = %zero) : tensor<?x2xf32>, tensor<i32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %k, %i1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %d = stablehlo.add %x, %x : tensor<?x2xf32>
    %m = stablehlo.add %k, %i1 : tensor<i32>
    stablehlo.return %d, %m, %s : tensor<?x2xf32>, tensor<i32>, tensor<f32>
  }
  %sum = stablehlo.reduce(%w#0 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %b = stablehlo.dynamic_broadcast_in_dim %two, %rows, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %r0 = stablehlo.add %sum, %b : tensor<?xf32>

  // numbers worked out of sizes: a row of 2n of them
  %n2 = stablehlo.multiply %rows, %v2 : tensor<1xi32>
  %wide = stablehlo.concatenate %v1, %n2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %iota = stablehlo.dynamic_iota %wide, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
  %r1 = stablehlo.add %iota, %iota : tensor<?x?xi32>

  // the last n - 1 rows, and all of them apart by a pad of 7
  %v0 = stablehlo.constant dense<0> : tensor<1xi32>
  %start = stablehlo.concatenate %v1, %v0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %step = stablehlo.constant dense<1> : tensor<2xi32>
  %r2 = stablehlo.real_dynamic_slice %a, %start, %shape, %step : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %seven = stablehlo.constant dense<7.0> : tensor<f32>
  %low = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %r3 = stablehlo.dynamic_pad %a, %seven, %low, %step, %low : (tensor<?x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %r0, %r1, %r2, %r3 : tensor<?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>
}
