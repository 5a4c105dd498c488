// A product of which only the sum over devices is used, and only transposed, is written as it is
// used, and its sum lies like it. A sum that is a result of the program is row-major.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: dot_general: dot {{.*}} [2,3,2] {{.*}} -> %[[P:[0-9]+]][1,2,0]
// CHECK-NEXT: dot_general: dot {{.*}} [2,3,2] {{.*}} -> %[[Q:[0-9]+]][3,1,0]
// CHECK-NEXT: all_reduce: collective all_reduce %[[P]] -> %[[S:[0-9]+]] %[[Q]] -> %[[T:[0-9]+]] groups
// CHECK-NEXT: subtract: loop [3,2] in {{.*}} %[[S]][2,1]
module attributes {mhlo.num_replicas = 2 : i32} {
func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = stablehlo.constant dense<[[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]> : tensor<2x3xf32>
  %id = stablehlo.replica_id : tensor<ui32>
  %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
  %z = stablehlo.add %x, %b : tensor<2x2xf32>
  %p = stablehlo.dot_general %z, %y, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = stablehlo.dot_general %z, %y, contracting_dims = [0] x [0] : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s, %t = "stablehlo.all_reduce"(%p, %q) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %sum = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %u = stablehlo.transpose %s, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %w = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]> : tensor<3x2xf32>
  %v = stablehlo.subtract %w, %u : tensor<3x2xf32>
  check.expect_eq_const %v, dense<[[-3.0, -6.0], [-3.0, -6.0], [-7.0, -18.0]]> : tensor<3x2xf32>
  return %t : tensor<2x3xf32>
}
}
