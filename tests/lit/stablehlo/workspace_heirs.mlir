// %y has a place in the result's memory, but takes over %x's in the workspace instead: where all are
// placed again, and %x comes to lie elsewhere, it does, too.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 8768
// CHECK: @2 stablehlo.sort: sort {{.*}} -> %[[#X:]]
// CHECK: @9 stablehlo.add: loop [32,32] in %[[#X]]
func.func @main(%a: tensor<32x32xi32> {tf.aliasing_output = 0 : i32}, %c: tensor<33x33xi32>)
    -> (tensor<32x32xi32>, tensor<i32>, tensor<i32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %u = "stablehlo.sort"(%c) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %l = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<33x33xi32>) -> tensor<33x33xi32>
  %x0 = stablehlo.slice %u [1:33, 0:32] : (tensor<33x33xi32>) -> tensor<32x32xi32>
  %x = "stablehlo.sort"(%x0) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %l = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<32x32xi32>) -> tensor<32x32xi32>
  %v0 = stablehlo.pad %x, %z, low = [1, 1], high = [1, 1], interior = [0, 0]
    : (tensor<32x32xi32>, tensor<i32>) -> tensor<34x34xi32>
  %v = "stablehlo.sort"(%v0) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %l = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<34x34xi32>) -> tensor<34x34xi32>
  %w = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<34x34xi32>, tensor<i32>) -> tensor<i32>
  %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<32x32xi32>, tensor<i32>) -> tensor<i32>
  %n = stablehlo.add %s, %w : tensor<i32>
  %one = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
  %y = stablehlo.add %x, %one : tensor<32x32xi32>
  %t = "stablehlo.sort"(%y) <{dimension = 0 : i64}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %l = stablehlo.compare GT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<32x32xi32>) -> tensor<32x32xi32>
  %k = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<32x32xi32>, tensor<i32>) -> tensor<i32>
  %m = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
  %r = stablehlo.multiply %y, %m : tensor<32x32xi32>
  return %r, %k, %w : tensor<32x32xi32>, tensor<i32>, tensor<i32>
}
