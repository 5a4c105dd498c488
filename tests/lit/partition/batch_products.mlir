// Products that a loop makes of one row after the other are made outside of it: of rows with what
// stays the same in front of it, sums of products with rows behind it.
// RUN: terrazzo opt %s --split-input-file -terrazzo-batch-products | FileCheck %s

// p_i = x[i] w, and s = s + (y_i)^T x[n - 1 - i] where y_i depends on what came before.
sdy.mesh @mesh = <["a"=2]>
func.func @both(%x: tensor<4x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}, {}]>}, %w: tensor<8x16xf32>, %s: tensor<16x8xf32>) -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %t = stablehlo.transpose %s, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %y = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} dense<0.0> : tensor<2x16xf32>
  %0:5 = stablehlo.while(%i = %zero, %xs = %x, %ws = %w, %sum = %t, %last = %y) : tensor<i32>, tensor<4x2x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<2x16xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"a"}, {}]>]>}
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %back = stablehlo.subtract %c3, %i : tensor<i32>
    %1 = stablehlo.dynamic_slice %xs, %i, %c0, %c0, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.dot_general %2, %ws, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
    %4 = stablehlo.add %3, %last {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x16xf32>
    %5 = stablehlo.dynamic_slice %xs, %back, %c0, %c0, sizes = [1, 2, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %6 = stablehlo.reshape %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    %7 = stablehlo.dot_general %4, %6, contracting_dims = [0] x [0] : (tensor<2x16xf32>, tensor<2x8xf32>) -> tensor<16x8xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %9 = stablehlo.add %sum, %8 : tensor<8x16xf32>
    %10 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %10, %xs, %ws, %9, %4 : tensor<i32>, tensor<4x2x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<2x16xf32>
  }
  return %0#3 : tensor<8x16xf32>
}

// CHECK: module {
// CHECK-NEXT:   sdy.mesh @mesh = <["a"=2]>
// CHECK-NEXT:   func.func @both(%arg0: tensor<4x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}, {}]>}, %arg1: tensor<8x16xf32>, %arg2: tensor<16x8xf32>) -> tensor<8x16xf32> {
// CHECK-NEXT:     %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:     %0 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
// CHECK-NEXT:     %cst = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} dense<0.000000e+00> : tensor<2x16xf32>
// CHECK-NEXT:     %cst_0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} dense<0.000000e+00> : tensor<4x2x16xf32>
// CHECK-NEXT:     %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x8xf32>, tensor<8x16xf32>) -> tensor<4x2x16xf32>
// CHECK-NEXT:     %2:5 = stablehlo.while(%iterArg = %c, %iterArg_1 = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %cst_0, %iterArg_4 = %cst) : tensor<i32>, tensor<4x2x8xf32>, tensor<8x16xf32>, tensor<4x2x16xf32>, tensor<2x16xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {"a"}, {}]>, <@mesh, [{"a"}, {}]>]>}
// CHECK-NEXT:     cond {
// CHECK-NEXT:       %c_5 = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT:       %6 = stablehlo.compare LT, %iterArg, %c_5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:       stablehlo.return %6 : tensor<i1>
// CHECK-NEXT:     } do {
// CHECK-NEXT:       %c_5 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT:       %c_6 = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT:       %6 = stablehlo.subtract %c_6, %iterArg : tensor<i32>
// CHECK-NEXT:       %c_7 = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:       %7 = stablehlo.dynamic_slice %1, %iterArg, %c_7, %c_7, sizes = [1, 2, 16] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x16xf32>
// CHECK-NEXT:       %8 = stablehlo.reshape %7 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
// CHECK-NEXT:       %9 = stablehlo.add %8, %iterArg_4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<2x16xf32>
// CHECK-NEXT:       %10 = stablehlo.add %iterArg, %c_5 : tensor<i32>
// CHECK-NEXT:       %c_8 = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:       %11 = stablehlo.reshape %9 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<2x16xf32>) -> tensor<1x2x16xf32>
// CHECK-NEXT:       %12 = stablehlo.dynamic_update_slice %iterArg_3, %11, %6, %c_8, %c_8 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}, {}]>]>} : (tensor<4x2x16xf32>, tensor<1x2x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x16xf32>
// CHECK-NEXT:       stablehlo.return %10, %iterArg_1, %iterArg_2, %12, %9 : tensor<i32>, tensor<4x2x8xf32>, tensor<8x16xf32>, tensor<4x2x16xf32>, tensor<2x16xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %3 = stablehlo.dot_general %2#3, %arg0, contracting_dims = [0, 1] x [0, 1] : (tensor<4x2x16xf32>, tensor<4x2x8xf32>) -> tensor<16x8xf32>
// CHECK-NEXT:     %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
// CHECK-NEXT:     %5 = stablehlo.add %0, %4 : tensor<8x16xf32>
// CHECK-NEXT:     return %5 : tensor<8x16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Nothing is to be had where a sum rounds each time, where not every row comes once, where somebody
// sees the sum on the way, and where rows are more than what they make.
func.func @neither(%x: tensor<4x2x8xbf16>, %z: tensor<5x2x8xf32>, %big: tensor<4x64x2xf32>, %a: tensor<8x8xbf16>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>, %d: tensor<2x2xf32>) -> (tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:5 = stablehlo.while(%i = %zero, %s = %a, %t = %b, %u = %c, %v = %d) : tensor<i32>, tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_slice %x, %i, %c0, %c0, sizes = [1, 2, 8] : (tensor<4x2x8xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xbf16>
    %2 = stablehlo.reshape %1 : (tensor<1x2x8xbf16>) -> tensor<2x8xbf16>
    %3 = stablehlo.dot_general %2, %2, contracting_dims = [0] x [0] : (tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<8x8xbf16>
    %4 = stablehlo.add %s, %3 : tensor<8x8xbf16>
    %5 = stablehlo.dynamic_slice %z, %i, %c0, %c0, sizes = [1, 2, 8] : (tensor<5x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %6 = stablehlo.reshape %5 : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
    %7 = stablehlo.dot_general %6, %6, contracting_dims = [0] x [0] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %8 = stablehlo.add %t, %7 : tensor<8x8xf32>
    %9 = stablehlo.tanh %u : tensor<8x8xf32>
    %10 = stablehlo.convert %2 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
    %11 = stablehlo.dot_general %10, %6, contracting_dims = [0] x [0] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %12 = stablehlo.add %u, %11 : tensor<8x8xf32>
    %13 = stablehlo.multiply %12, %9 : tensor<8x8xf32>
    %14 = stablehlo.dynamic_slice %big, %i, %c0, %c0, sizes = [1, 64, 2] : (tensor<4x64x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x2xf32>
    %15 = stablehlo.reshape %14 : (tensor<1x64x2xf32>) -> tensor<64x2xf32>
    %16 = stablehlo.sine %15 : tensor<64x2xf32>
    %17 = stablehlo.dot_general %16, %15, contracting_dims = [0] x [0] : (tensor<64x2xf32>, tensor<64x2xf32>) -> tensor<2x2xf32>
    %18 = stablehlo.add %v, %17 : tensor<2x2xf32>
    %19 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %19, %4, %8, %13, %18 : tensor<i32>, tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>
  }
  return %0#1, %0#2, %0#3, %0#4 : tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @neither
// CHECK-NOT: dot_general
// CHECK: stablehlo.while
// CHECK: %3 = stablehlo.dot_general %2, %2, contracting_dims = [0] x [0] : (tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<8x8xbf16>
// CHECK: %7 = stablehlo.dot_general %6, %6, contracting_dims = [0] x [0] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
// CHECK: %11 = stablehlo.dot_general %10, %6, contracting_dims = [0] x [0] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
// CHECK: %17 = stablehlo.dot_general %16, %15, contracting_dims = [0] x [0] : (tensor<64x2xf32>, tensor<64x2xf32>) -> tensor<2x2xf32>

// -----

// Rows on the right come to the left, so that those of what is made lie together.
func.func @right(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %h: tensor<16xf32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %xs = %x, %ws = %w, %last = %h) : tensor<i32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_slice %xs, %i, %c0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
    %3 = stablehlo.dot_general %ws, %2, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8xf32>) -> tensor<16xf32>
    %4 = stablehlo.subtract %3, %last : tensor<16xf32>
    %5 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %5, %xs, %ws, %4 : tensor<i32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>
  }
  return %0#3 : tensor<16xf32>
}

// CHECK-LABEL: func.func @right
// CHECK: %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
// CHECK: stablehlo.while
// CHECK-NOT: dot_general
// CHECK: %2 = stablehlo.dynamic_slice %0, %iterArg, %c_4, sizes = [1, 16] : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
// CHECK-NOT: dot_general
