// Large slices of what stays as it is are read where they lie. A slice of what is written over while
// it is needed is a copy, and so is one that begins in the middle of a line.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK: %[[V:[0-9]+]] = view : f32 x 4096
// CHECK-NOT: = view
// CHECK: dynamic view %{{[0-9]+}}[4,4096] %[[V]][1,4096] at
// CHECK: loop [4096] in %{{[0-9]+}}[1] %[[V]][1] out
func.func @main() {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %most = stablehlo.constant dense<4> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4096xf32>
  %w = stablehlo.iota dim = 0 : tensor<4x4096xf32>
  %c0 = stablehlo.cosine %w : tensor<4x4096xf32>
  %x = stablehlo.round_nearest_even %c0 : tensor<4x4096xf32>
  %u = stablehlo.iota dim = 0 : tensor<4x4100xf32>
  %v = stablehlo.cosine %u : tensor<4x4100xf32>
  %y = stablehlo.round_nearest_even %v : tensor<4x4100xf32>
  %none = stablehlo.constant dense<0.0> : tensor<4100xf32>
  %o = stablehlo.iota dim = 0 : tensor<4x4096xf32>
  %0:5 = stablehlo.while(%i = %n, %acc = %zeros, %m = %o, %b = %zeros, %l = %none) : tensor<i32>, tensor<4096xf32>, tensor<4x4096xf32>, tensor<4096xf32>, tensor<4100xf32>
  cond {
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %x, %i, %n, sizes = [1, 4096] : (tensor<4x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4096xf32>
    %t = stablehlo.reshape %s : (tensor<1x4096xf32>) -> tensor<4096xf32>
    %next = stablehlo.add %acc, %t : tensor<4096xf32>
    %p = stablehlo.dynamic_slice %m, %i, %n, sizes = [1, 4096] : (tensor<4x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4096xf32>
    %q = stablehlo.reshape %next : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %m1 = stablehlo.dynamic_update_slice %m, %q, %i, %n : (tensor<4x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4096xf32>
    %r = stablehlo.reshape %p : (tensor<1x4096xf32>) -> tensor<4096xf32>
    %b1 = stablehlo.add %b, %r : tensor<4096xf32>
    %d = stablehlo.dynamic_slice %y, %i, %n, sizes = [1, 4100] : (tensor<4x4100xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4100xf32>
    %e = stablehlo.reshape %d : (tensor<1x4100xf32>) -> tensor<4100xf32>
    %l1 = stablehlo.add %l, %e : tensor<4100xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %next, %m1, %b1, %l1 : tensor<i32>, tensor<4096xf32>, tensor<4x4096xf32>, tensor<4096xf32>, tensor<4100xf32>
  }
  check.expect_eq_const %0#1, dense<1.0> : tensor<4096xf32>
  check.expect_eq_const %0#3, dense<6.0> : tensor<4096xf32>
  check.expect_eq_const %0#4, dense<1.0> : tensor<4100xf32>
  return
}
