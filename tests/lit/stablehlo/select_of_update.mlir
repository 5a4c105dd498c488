// Where one condition decides between an array and the same with a part overwritten, as in a
// pipeline's stages, the part alone is selected, and a loop writes it where the array lies.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  // CHECK: jump_unless
  // CHECK-NOT: copy [
  // CHECK: select{{.*}} loop [1,2]
  // CHECK: dynamic update
  // CHECK-NOT: select{{.*}} loop [5,2]
  // CHECK: jump @
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %all = stablehlo.constant dense<0.0> : tensor<5x2xf32>
  %0:2 = stablehlo.while(%i = %zero, %a = %all) : tensor<i32>, tensor<5x2xf32>
   cond {
    %c6 = stablehlo.constant dense<6> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %c6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.convert %next : (tensor<i32>) -> tensor<f32>
    %u = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1x2xf32>
    %p = stablehlo.compare NE, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %ps = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<i1>) -> tensor<5x2xi1>
    %b = stablehlo.dynamic_update_slice %a, %u, %i, %c0 : (tensor<5x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
    %s = stablehlo.select %ps, %b, %a : tensor<5x2xi1>, tensor<5x2xf32>
    stablehlo.return %next, %s : tensor<i32>, tensor<5x2xf32>
  }
  check.expect_eq_const %0#1, dense<[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [0.0, 0.0], [6.0, 6.0]]> : tensor<5x2xf32>

  // The other way round, and a condition that is a number.
  %no = stablehlo.constant dense<false> : tensor<i1>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %v = stablehlo.constant dense<7.0> : tensor<1x2xf32>
  %2 = stablehlo.dynamic_update_slice %0#1, %v, %two, %zero : (tensor<5x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
  %3 = stablehlo.select %no, %0#1, %2 : tensor<i1>, tensor<5x2xf32>
  check.expect_eq_const %3, dense<[[1.0, 1.0], [2.0, 2.0], [7.0, 7.0], [0.0, 0.0], [6.0, 6.0]]> : tensor<5x2xf32>

  // One for each element stays what it is.
  %each = stablehlo.constant dense<[[true, false], [true, false], [true, false], [true, true], [true, true]]> : tensor<5x2xi1>
  %4 = stablehlo.dynamic_update_slice %0#1, %v, %two, %zero : (tensor<5x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
  %5 = stablehlo.select %each, %4, %0#1 : tensor<5x2xi1>, tensor<5x2xf32>
  check.expect_eq_const %5, dense<[[1.0, 1.0], [2.0, 2.0], [7.0, 3.0], [0.0, 0.0], [6.0, 6.0]]> : tensor<5x2xf32>
  return
}
