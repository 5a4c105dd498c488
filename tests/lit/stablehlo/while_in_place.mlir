// What a loop stacks takes the memory of what it reads row by row, and each row is made in its place:
// no row is copied. Where a row is read again once it is written, or another one is, both are there.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK: workspace [[BYTES:[0-9]+]]
// CHECK: dynamic view %[[X:[0-9]+]][4,4096] %[[ROW:[0-9]+]][1,4096] at
// CHECK-NOT: dynamic slice
// CHECK-NOT: dynamic update
// CHECK: in %[[ROW]][1] out %[[ROW]][1]
// CHECK: jump
// CHECK: dynamic view %[[Y:[0-9]+]][4,4096] %[[IN:[0-9]+]][1,4096] at
// CHECK: dynamic view %[[Z:[0-9]+]][4,4096] %[[OUT:[0-9]+]][1,4096] at
// CHECK: in %[[IN]][1] out %[[OUT]][1]
func.func @main() {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %most = stablehlo.constant dense<4> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<4x4096xf32>
  %w = stablehlo.iota dim = 0 : tensor<4x4096xf32>
  %v = stablehlo.cosine %w : tensor<4x4096xf32>
  %x = stablehlo.round_nearest_even %v : tensor<4x4096xf32>
  %0:2 = stablehlo.while(%i = %n, %s = %f) : tensor<i32>, tensor<4x4096xf32>
  cond {
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a = stablehlo.dynamic_slice %x, %i, %n, sizes = [1, 4096] : (tensor<4x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4096xf32>
    %b = stablehlo.reshape %a : (tensor<1x4096xf32>) -> tensor<4096xf32>
    %d = stablehlo.add %b, %b : tensor<4096xf32>
    %e = stablehlo.reshape %d : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %s1 = stablehlo.dynamic_update_slice %s, %e, %i, %n : (tensor<4x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4096xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %s1 : tensor<i32>, tensor<4x4096xf32>
  }
  %1:2 = stablehlo.while(%i = %n, %s = %f) : tensor<i32>, tensor<4x4096xf32>
  cond {
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.subtract %one, %i : tensor<i32>
    %a = stablehlo.dynamic_slice %0#1, %j, %n, sizes = [1, 4096] : (tensor<4x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4096xf32>
    %b = stablehlo.reshape %a : (tensor<1x4096xf32>) -> tensor<4096xf32>
    %d = stablehlo.negate %b : tensor<4096xf32>
    %e = stablehlo.reshape %d : (tensor<4096xf32>) -> tensor<1x4096xf32>
    %s1 = stablehlo.dynamic_update_slice %s, %e, %i, %n : (tensor<4x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4096xf32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %s1 : tensor<i32>, tensor<4x4096xf32>
  }
  check.expect_eq_const %0#0, dense<4> : tensor<i32>
  %u = stablehlo.slice %1#1 [0:4, 7:8] : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  check.expect_eq_const %u, dense<[[-2.0], [-2.0], [-2.0], [-2.0]]> : tensor<4x1xf32>
  return
}
