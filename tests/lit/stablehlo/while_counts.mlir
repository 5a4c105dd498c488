// Numbers in a row that a loop takes one by one are written before it, once, not in each round.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: env TERRAZZO_FOLD=1 terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK: loop [5] in out %[[X:[0-9]+]][1] { v0:i32=iota 0
// CHECK: jump_unless
// CHECK-NOT: loop [5]
// CHECK: dynamic slice %[[X]][5] %{{[0-9]+}}[1] at
// CHECK-NOT: loop [5]
// CHECK: jump @
func.func @main() {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %all = stablehlo.iota dim = 0 : tensor<5xi32>
  %zeros = stablehlo.constant dense<0> : tensor<1xi32>
  %0:3 = stablehlo.while(%i = %n, %y = %all, %s = %zeros) : tensor<i32>, tensor<5xi32>, tensor<1xi32>
  cond {
    %most = stablehlo.constant dense<7> : tensor<i32>
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %x = stablehlo.dynamic_slice %y, %i, sizes = [1] : (tensor<5xi32>, tensor<i32>) -> tensor<1xi32>
    %sum = stablehlo.add %s, %x : tensor<1xi32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %y, %sum : tensor<i32>, tensor<5xi32>, tensor<1xi32>
  }
  check.expect_eq_const %0#2, dense<18> : tensor<1xi32>
  return
}
