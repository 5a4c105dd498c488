// What rows are added to is filled with zeros right before that, and both come where the sum is
// needed: %z is not there beside %x, %y and what is sorted.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: @0 stablehlo.dot_general
// CHECK-NEXT: dot_general
// CHECK-NEXT: sort
// CHECK-NEXT: stablehlo.scatter: loop
// CHECK-NEXT: stablehlo.scatter: gather
// CHECK-NEXT: stablehlo.add: loop
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %u: tensor<4x64xf32>, %at: tensor<4x1xi32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %z = "stablehlo.scatter"(%zero, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %g: tensor<f32>):
    %sum = stablehlo.add %l, %g : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<64x64xf32>, tensor<4x1xi32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = "stablehlo.sort"(%y) <{dimension = 0 : i64}> ({
  ^bb0(%l: tensor<f32>, %g: tensor<f32>):
    %less = stablehlo.compare LT, %l, %g : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = stablehlo.multiply %x, %s : tensor<64x64xf32>
  %r = stablehlo.add %q, %z : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
