// What a loop computes in each round: what depends on what it carries; what takes more memory than
// there is room for; what costs next to nothing where it is used, as masks and broadcasts do; what
// is only computed in a branch; and what may have an effect.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: jump_unless
// CHECK-NEXT: dot_general: dot b0 m1 n1 k1 [4,4,4]
// CHECK-NEXT: dot_general: dot b0 m1 n1 k1 [1024,1024,4]
// CHECK: call host seen
// CHECK: case:
// CHECK: dot_general: dot b0 m1 n1 k1 [4,4,1024]
// CHECK: case: jump
// CHECK: loop [4,4] {{.*}} v0:i32=iota 0; v1:i32=iota 1; v2:i1=le v0 v1;
// CHECK-NEXT: jump @
func.func @main(%x: tensor<1024x4xf32>, %h: tensor<4x4xf32>, %a: tensor<4xf32>, %which: tensor<i32>) -> (tensor<4x4xf32>, tensor<1024xf32>) {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.constant dense<0.0> : tensor<1024xf32>
  %0:3 = stablehlo.while(%i = %n, %p = %h, %u = %s) : tensor<i32>, tensor<4x4xf32>, tensor<1024xf32>
  cond {
    %most = stablehlo.constant dense<9> : tensor<i32>
    %c = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %pp = stablehlo.dot_general %p, %p, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %large = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<1024x4xf32>, tensor<1024x4xf32>) -> tensor<1024x1024xf32>
    %ub = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %m = stablehlo.multiply %large, %ub : tensor<1024x1024xf32>
    %v = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %seen = stablehlo.custom_call @seen(%a) {api_version = 4 : i32, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    %xx = "stablehlo.case"(%which) ({
      %k = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<1024x4xf32>, tensor<1024x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %k : tensor<4x4xf32>
    }, {
      stablehlo.return %p : tensor<4x4xf32>
    }) : (tensor<i32>) -> tensor<4x4xf32>
    %sum = stablehlo.add %pp, %xx : tensor<4x4xf32>
    %r = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %k = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %mask = stablehlo.compare LE, %r, %k : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %ab = stablehlo.broadcast_in_dim %seen, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %q = stablehlo.select %mask, %sum, %ab : tensor<4x4xi1>, tensor<4x4xf32>
    stablehlo.return %next, %q, %v : tensor<i32>, tensor<4x4xf32>, tensor<1024xf32>
  }
  return %0#1, %0#2 : tensor<4x4xf32>, tensor<1024xf32>
}
