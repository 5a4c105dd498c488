// Whole rows, and few of them: the rows are combined as those of any loop, from the initial value
// on, in the order of the reduced dims.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %x = stablehlo.constant dense<[[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]], [[16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29, 30, 31]]]> : tensor<2x2x8xi32>
  %y = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 10, 11, 12], [6, 7, 8, 9, 10, 11, 12, 13], [7, 8, 9, 10, 11, 12, 13, 14], [8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<9x8xi32>
  %z = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]> : tensor<2x8xbf16>
  %init = stablehlo.constant dense<100> : tensor<i32>
  %low = stablehlo.constant dense<26> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  // CHECK: stablehlo.reduce: loop [2,8] in %{{[0-9]+}}[0,0] [[X:%[0-9]+]][8,1] [[X]]+16[8,1] out
  // CHECK: stablehlo.reduce: loop [8] in %{{[0-9]+}}[0] [[X]][1] [[X]]+8[1] [[X]]+16[1] [[X]]+24[1] out
  // CHECK: stablehlo.reduce: loop [8,9]
  // CHECK: stablehlo.reduce: loop [8,2]
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<2x2x8xi32>, tensor<i32>) -> tensor<2x8xi32>
  %1 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1, 0] : (tensor<2x2x8xi32>, tensor<i32>) -> tensor<8xi32>
  %2 = stablehlo.reduce(%y init: %init) applies stablehlo.add across dimensions = [0] : (tensor<9x8xi32>, tensor<i32>) -> tensor<8xi32>
  %3 = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  check.expect_eq_const %0, dense<[[116, 118, 120, 122, 124, 126, 128, 130], [132, 134, 136, 138, 140, 142, 144, 146]]> : tensor<2x8xi32>
  check.expect_eq_const %1, dense<[26, 26, 26, 27, 28, 29, 30, 31]> : tensor<8xi32>
  check.expect_eq_const %2, dense<[136, 145, 154, 163, 172, 181, 190, 199]> : tensor<8xi32>
  check.expect_eq_const %3, dense<[1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]> : tensor<8xbf16>
  return
}
