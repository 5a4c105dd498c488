// A dynamic slice of a value with itself behind it, as of jnp.roll, reads that where it is.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %low = stablehlo.constant dense<-100> : tensor<i32>
  %0 = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %start = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  %1 = stablehlo.constant dense<[-5, -1]> : tensor<2xi32>
  %before = stablehlo.reduce(%1 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.constant dense<[9, 2]> : tensor<2xi32>
  %far = stablehlo.reduce(%2 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>

  // CHECK-NOT: stablehlo.concatenate
  // CHECK: dynamic slice %{{[0-9]+}}[2,3] %{{[0-9]+}}[2,3] at {{.*}} turns 1
  %3 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
  %4 = stablehlo.dynamic_slice %3, %before, %start, sizes = [2, 3] : (tensor<2x6xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %4, dense<[[3, 1, 2], [6, 4, 5]]> : tensor<2x3xi32>
  // behind the end: the last that there are
  // CHECK: dynamic slice %{{[0-9]+}}[2,3] %{{[0-9]+}}[1,2] at {{.*}} turns 1
  %5 = stablehlo.dynamic_slice %3, %start, %far, sizes = [1, 2] : (tensor<2x6xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
  check.expect_eq_const %5, dense<[[5, 6]]> : tensor<1x2xi32>

  // what is computed is stored once
  // CHECK-NOT: stablehlo.concatenate
  // CHECK: dynamic slice %{{[0-9]+}}[2,3] %{{[0-9]+}}[1,3] at {{.*}} turns 0
  %6 = stablehlo.broadcast_in_dim %start, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
  %7 = stablehlo.multiply %x, %6 : tensor<2x3xi32>
  %8 = stablehlo.concatenate %7, %7, dim = 0 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>
  %9 = stablehlo.dynamic_slice %8, %start, %before, sizes = [1, 3] : (tensor<4x3xi32>, tensor<i32>, tensor<i32>) -> tensor<1x3xi32>
  check.expect_eq_const %9, dense<[[2, 4, 6]]> : tensor<1x3xi32>

  // a part of a later dim is none
  // CHECK: stablehlo.concatenate
  %10 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>
  %11 = stablehlo.dynamic_slice %10, %start, %far, sizes = [1, 2] : (tensor<4x3xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
  check.expect_eq_const %11, dense<[[2, 3]]> : tensor<1x2xi32>
  return
}
