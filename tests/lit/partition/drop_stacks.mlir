// Rows that a loop keeps for another, though they are cheap to make of others that it keeps, are
// made by who reads them.
// RUN: terrazzo opt %s --split-input-file -terrazzo-drop-stacks | FileCheck %s

// s[i] = 1 - r[i], and t[i] = r[i] again.
sdy.mesh @mesh = <["a"=2]>
func.func @both(%x: tensor<4x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}, {}]>}) -> tensor<2x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %none = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} dense<0.0> : tensor<4x2x8xf32>
  %first = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} dense<0.0> : tensor<2x8xf32>
  %0:6 = stablehlo.while(%i = %zero, %xs = %x, %c = %one, %r = %none, %s = %none, %t = %none) : tensor<i32>, tensor<4x2x8xf32>, tensor<f32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>]>}
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_slice %xs, %i, %c0, %c0, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.tanh %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<f32>) -> tensor<2x8xf32>
    %5 = stablehlo.subtract %4, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
    %6 = stablehlo.broadcast_in_dim %3, dims = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %7 = stablehlo.dynamic_update_slice %r, %6, %i, %c0, %c0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x8xf32>
    %8 = stablehlo.reshape %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %9 = stablehlo.dynamic_update_slice %s, %8, %i, %c0, %c0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x8xf32>
    %10 = stablehlo.reshape %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %11 = stablehlo.dynamic_update_slice %t, %10, %i, %c0, %c0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x8xf32>
    %12 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %12, %xs, %c, %7, %9, %11 : tensor<i32>, tensor<4x2x8xf32>, tensor<f32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>
  }
  %20:5 = stablehlo.while(%i = %zero, %r = %0#3, %s = %0#4, %t = %0#5, %sum = %first) : tensor<i32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<2x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{"a"}, {}]>]>}
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %back = stablehlo.subtract %c3, %i : tensor<i32>
    %1 = stablehlo.dynamic_slice %s, %back, %c0, %c0, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.dynamic_slice %r, %back, %c0, %c0, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %4 = stablehlo.reshape %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    %5 = stablehlo.dynamic_slice %t, %back, %c0, %c0, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %6 = stablehlo.reshape %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    %7 = stablehlo.multiply %2, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
    %8 = stablehlo.multiply %7, %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
    %9 = stablehlo.add %sum, %8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
    %10 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %10, %r, %s, %t, %9 : tensor<i32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<2x8xf32>
  }
  return %20#4 : tensor<2x8xf32>
}

// CHECK: module {
// CHECK-NEXT:   sdy.mesh @mesh = <["a"=2]>
// CHECK-NEXT:   func.func @both(%arg0: tensor<4x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}, {}]>}) -> tensor<2x8xf32> {
// CHECK-NEXT:     %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:     %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %cst_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} dense<0.000000e+00> : tensor<4x2x8xf32>
// CHECK-NEXT:     %cst_1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} dense<0.000000e+00> : tensor<2x8xf32>
// CHECK-NEXT:     %0:6 = stablehlo.while(%iterArg = %c, %iterArg_2 = %arg0, %iterArg_3 = %cst, %iterArg_4 = %cst_0, %iterArg_5 = %cst_0, %iterArg_6 = %cst_0) : tensor<i32>, tensor<4x2x8xf32>, tensor<f32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>]>}
// CHECK-NEXT:     cond {
// CHECK-NEXT:       %c_7 = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT:       %2 = stablehlo.compare LT, %iterArg, %c_7 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:       stablehlo.return %2 : tensor<i1>
// CHECK-NEXT:     } do {
// CHECK-NEXT:       %c_7 = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:       %c_8 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT:       %2 = stablehlo.dynamic_slice %iterArg_2, %iterArg, %c_7, %c_7, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
// CHECK-NEXT:       %3 = stablehlo.reshape %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:       %4 = stablehlo.tanh %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
// CHECK-NEXT:       %5 = stablehlo.reshape %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
// CHECK-NEXT:       %6 = stablehlo.dynamic_update_slice %iterArg_6, %5, %iterArg, %c_7, %c_7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x8xf32>
// CHECK-NEXT:       %7 = stablehlo.add %iterArg, %c_8 : tensor<i32>
// CHECK-NEXT:       stablehlo.return %7, %iterArg_2, %iterArg_3, %iterArg_4, %iterArg_5, %6 : tensor<i32>, tensor<4x2x8xf32>, tensor<f32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %1:5 = stablehlo.while(%iterArg = %c, %iterArg_2 = %0#3, %iterArg_3 = %0#4, %iterArg_4 = %0#5, %iterArg_5 = %cst_1) : tensor<i32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<2x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{"a"}, {}]>]>}
// CHECK-NEXT:     cond {
// CHECK-NEXT:       %c_6 = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT:       %2 = stablehlo.compare LT, %iterArg, %c_6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:       stablehlo.return %2 : tensor<i1>
// CHECK-NEXT:     } do {
// CHECK-NEXT:       %c_6 = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:       %c_7 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT:       %c_8 = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT:       %2 = stablehlo.subtract %c_8, %iterArg : tensor<i32>
// CHECK-NEXT:       %3 = stablehlo.broadcast_in_dim %cst, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<f32>) -> tensor<2x8xf32>
// CHECK-NEXT:       %4 = stablehlo.dynamic_slice %0#5, %2, %c_6, %c_6, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
// CHECK-NEXT:       %5 = stablehlo.reshape %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:       %6 = stablehlo.subtract %3, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
// CHECK-NEXT:       %7 = stablehlo.reshape %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:       %8 = stablehlo.reshape %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:       %9 = stablehlo.multiply %6, %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
// CHECK-NEXT:       %10 = stablehlo.multiply %9, %8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
// CHECK-NEXT:       %11 = stablehlo.add %iterArg_5, %10 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x8xf32>
// CHECK-NEXT:       %12 = stablehlo.add %iterArg, %c_7 : tensor<i32>
// CHECK-NEXT:       stablehlo.return %12, %iterArg_2, %iterArg_3, %iterArg_4, %11 : tensor<i32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<2x8xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %1#4 : tensor<2x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Somebody wants all of s, rows of t are from another trip, u has a row that no trip writes, v is
// dear, and w is sharded in another way.
sdy.mesh @mesh = <["a"=2]>
func.func @none(%x: tensor<4x2xf32>) -> (tensor<2xf32>, tensor<4x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<4x2xf32>
  %first = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0:7 = stablehlo.while(%i = %zero, %r = %none, %s = %none, %t = %none, %u = %none, %v = %none, %w = %none) : tensor<i32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {"a"}]>]>}
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %back = stablehlo.subtract %c3, %i : tensor<i32>
    %half = stablehlo.shift_right_arithmetic %i, %c1 : tensor<i32>
    %1 = stablehlo.dynamic_slice %x, %i, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x2xf32>) -> tensor<2xf32>
    %3 = stablehlo.tanh %2 : tensor<2xf32>
    %4 = stablehlo.negate %3 : tensor<2xf32>
    %5 = stablehlo.tanh %3 : tensor<2xf32>
    %6 = stablehlo.negate %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<2xf32>
    %7 = stablehlo.reshape %3 : (tensor<2xf32>) -> tensor<1x2xf32>
    %8 = stablehlo.reshape %4 : (tensor<2xf32>) -> tensor<1x2xf32>
    %9 = stablehlo.reshape %5 : (tensor<2xf32>) -> tensor<1x2xf32>
    %10 = stablehlo.reshape %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<2xf32>) -> tensor<1x2xf32>
    %11 = stablehlo.dynamic_update_slice %r, %7, %i, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    %12 = stablehlo.dynamic_update_slice %s, %8, %i, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    %13 = stablehlo.dynamic_update_slice %t, %8, %back, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    %14 = stablehlo.dynamic_update_slice %u, %8, %half, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    %15 = stablehlo.dynamic_update_slice %v, %9, %i, %c0 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    %16 = stablehlo.dynamic_update_slice %w, %10, %i, %c0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
    %17 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %17, %11, %12, %13, %14, %15, %16 : tensor<i32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  }
  %20:2 = stablehlo.while(%i = %zero, %sum = %first) : tensor<i32>, tensor<2xf32>
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_slice %0#1, %i, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %2 = stablehlo.dynamic_slice %0#2, %i, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %3 = stablehlo.dynamic_slice %0#3, %i, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %4 = stablehlo.dynamic_slice %0#4, %i, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %5 = stablehlo.dynamic_slice %0#5, %i, %c0, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %6 = stablehlo.dynamic_slice %0#6, %i, %c0, sizes = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %7 = stablehlo.reshape %1 : (tensor<1x2xf32>) -> tensor<2xf32>
    %8 = stablehlo.reshape %2 : (tensor<1x2xf32>) -> tensor<2xf32>
    %9 = stablehlo.reshape %3 : (tensor<1x2xf32>) -> tensor<2xf32>
    %10 = stablehlo.reshape %4 : (tensor<1x2xf32>) -> tensor<2xf32>
    %11 = stablehlo.reshape %5 : (tensor<1x2xf32>) -> tensor<2xf32>
    %12 = stablehlo.reshape %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : (tensor<1x2xf32>) -> tensor<2xf32>
    %13 = stablehlo.add %sum, %7 : tensor<2xf32>
    %14 = stablehlo.add %13, %8 : tensor<2xf32>
    %15 = stablehlo.add %14, %9 : tensor<2xf32>
    %16 = stablehlo.add %15, %10 : tensor<2xf32>
    %17 = stablehlo.add %16, %11 : tensor<2xf32>
    %18 = stablehlo.add %17, %12 : tensor<2xf32>
    %19 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %19, %18 : tensor<i32>, tensor<2xf32>
  }
  return %20#1, %0#2 : tensor<2xf32>, tensor<4x2xf32>
}

// CHECK: func.func @none(%arg0: tensor<4x2xf32>) -> (tensor<2xf32>, tensor<4x2xf32>) {
// CHECK: %14 = stablehlo.dynamic_update_slice %iterArg_1, %10, %iterArg, %c_7 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK: %15 = stablehlo.dynamic_update_slice %iterArg_2, %11, %iterArg, %c_7 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK: %16 = stablehlo.dynamic_update_slice %iterArg_3, %11, %2, %c_7 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK: %17 = stablehlo.dynamic_update_slice %iterArg_4, %11, %3, %c_7 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK: %18 = stablehlo.dynamic_update_slice %iterArg_5, %12, %iterArg, %c_7 : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK: %19 = stablehlo.dynamic_update_slice %iterArg_6, %13, %iterArg, %c_7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
// CHECK: %2 = stablehlo.dynamic_slice %0#1, %iterArg, %c_2, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
// CHECK: %3 = stablehlo.dynamic_slice %0#2, %iterArg, %c_2, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
// CHECK: %4 = stablehlo.dynamic_slice %0#3, %iterArg, %c_2, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
// CHECK: %5 = stablehlo.dynamic_slice %0#4, %iterArg, %c_2, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
// CHECK: %6 = stablehlo.dynamic_slice %0#5, %iterArg, %c_2, sizes = [1, 2] : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
// CHECK: %7 = stablehlo.dynamic_slice %0#6, %iterArg, %c_2, sizes = [1, 2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
