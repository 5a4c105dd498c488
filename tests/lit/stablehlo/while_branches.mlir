// What a branch in a loop leaves as it is, or writes a part of, lies where the loop carries it. What
// is still needed as it was, or goes to the other's place, is kept.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<6xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %part = stablehlo.constant dense<9> : tensor<1xi32>
  %some = stablehlo.optimization_barrier %n : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<6xi32>
  cond {
    %c = stablehlo.compare LT, %i, %some : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %odd = stablehlo.and %i, %one : tensor<i32>
    %b = "stablehlo.case"(%odd) ({
      stablehlo.return %a : tensor<6xi32>
    }, {
      %u = stablehlo.dynamic_update_slice %a, %part, %i : (tensor<6xi32>, tensor<1xi32>, tensor<i32>) -> tensor<6xi32>
      stablehlo.return %u : tensor<6xi32>
    }) : (tensor<i32>) -> tensor<6xi32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %b : tensor<i32>, tensor<6xi32>
  }
  %1:4 = stablehlo.while(%i = %zero, %a = %x, %d = %x, %e = %0#1) : tensor<i32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
  cond {
    %c = stablehlo.compare LT, %i, %some : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %odd = stablehlo.and %i, %one : tensor<i32>
    %b:3 = "stablehlo.case"(%odd) ({
      stablehlo.return %a, %e, %d : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
    }, {
      %u = stablehlo.dynamic_update_slice %a, %part, %i : (tensor<6xi32>, tensor<1xi32>, tensor<i32>) -> tensor<6xi32>
      %s = stablehlo.add %u, %a : tensor<6xi32>
      stablehlo.return %u, %s, %e : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
    }) : (tensor<i32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>)
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %b#0, %b#1, %b#2 : tensor<i32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
  }
  check.expect_eq_const %0#1, dense<[0, 9, 2, 9, 4, 5]> : tensor<6xi32>
  check.expect_eq_const %1#1, dense<[0, 9, 2, 9, 4, 5]> : tensor<6xi32>
  check.expect_eq_const %1#2, dense<[0, 10, 4, 6, 8, 10]> : tensor<6xi32>
  check.expect_eq_const %1#3, dense<[0, 18, 4, 12, 8, 10]> : tensor<6xi32>
  return
}
// CHECK: stablehlo.case: case
// CHECK-NEXT: stablehlo.case: jump
// CHECK-NEXT: dynamic update [[a:%[0-9]+]][6]
// CHECK-NEXT: stablehlo.add: loop []
// CHECK-NEXT: stablehlo.while: jump
// CHECK: stablehlo.case: case
// CHECK-NEXT: copy [6] [[b:%[0-9]+]][1] -> [[u:%[0-9]+]][1]
// CHECK: copy [6] [[b]][1] -> [[u]][1]
// CHECK-NEXT: dynamic update [[u]][6]
// CHECK-NEXT: loop [6] in [[u]][1] [[b]][1]
