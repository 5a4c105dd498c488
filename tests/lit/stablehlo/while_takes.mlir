// What a loop takes parts of, and is not in order, is put so before the loop, once; what is in order
// is read where it is.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK: copy [3,2] {{.*}} -> %[[X:[0-9]+]][2,1]
// CHECK: jump_unless
// CHECK-NOT: copy [3,2]
// CHECK: dynamic slice %[[X]][3,2] %{{[0-9]+}}[1,2] at
// CHECK-NOT: copy [3,2]
// CHECK: jump @
func.func @main() {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %d = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %x = stablehlo.optimization_barrier %d : tensor<4x2xi32>
  %rest = stablehlo.slice %x [1:4, 0:2] : (tensor<4x2xi32>) -> tensor<3x2xi32>
  %zeros = stablehlo.constant dense<0> : tensor<1x2xi32>
  %0:3 = stablehlo.while(%i = %n, %y = %rest, %s = %zeros) : tensor<i32>, tensor<3x2xi32>, tensor<1x2xi32>
  cond {
    %most = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %first = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %y, %i, %first, sizes = [1, 2] : (tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
    %sum = stablehlo.add %s, %row : tensor<1x2xi32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %y, %sum : tensor<i32>, tensor<3x2xi32>, tensor<1x2xi32>
  }
  check.expect_eq_const %0#2, dense<[[15, 18]]> : tensor<1x2xi32>
  return
}
