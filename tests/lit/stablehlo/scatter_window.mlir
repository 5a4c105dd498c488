// One window at a known place is written where it is, with what is computed of it on the way. What
// reads the array elsewhere is computed before, and windows that are not inside stay a scatter's.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

func.func @main(%x: tensor<6x8xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<6x8xf32> {tf.aliasing_output = 1 : i32}, %z: tensor<6x8xf32> {tf.aliasing_output = 2 : i32}, %w: tensor<6x8xf32> {tf.aliasing_output = 3 : i32}) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %at = stablehlo.concatenate %one, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %u = stablehlo.slice %y [2:6, 0:6] : (tensor<6x8xf32>) -> tensor<4x6xf32>
  %v = stablehlo.multiply %u, %u : tensor<4x6xf32>
  %t = stablehlo.add %u, %u : tensor<4x6xf32>
  %0 = "stablehlo.scatter"(%x, %at, %t) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %b, %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x8xf32>, tensor<2xi32>, tensor<4x6xf32>) -> tensor<6x8xf32>
  %1 = "stablehlo.scatter"(%y, %at, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x8xf32>, tensor<2xi32>, tensor<4x6xf32>) -> tensor<6x8xf32>
  %row = stablehlo.constant dense<4> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %2 = "stablehlo.scatter"(%z, %row, %zero) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<6x8xf32>
  %out = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %3 = "stablehlo.scatter"(%w, %out, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x8xf32>, tensor<2xi32>, tensor<4x6xf32>) -> tensor<6x8xf32>
  return %0, %1, %2, %3 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}
// CHECK: @0 stablehlo.dynamic_update_slice: copy [48] %0[1] -> %4[1]
// CHECK-NEXT: loop [4,6] in %1+16[8,1] %4+9[8,1] out %4+9[8,1] { v0:f32=load 0; v1:f32=add v0 v0; v2:f32=load 1; v3:f32=sub v1 v2; out0=v3; }
// CHECK-NEXT: stablehlo.multiply: loop [4,6] in %1+16[8,1] out [[v:%[0-9]+]][6,1]
// CHECK-NEXT: copy [48] %1[1] -> %5[1]
// CHECK-NEXT: loop [4,6] in %5+9[8,1] [[v]][6,1] out %5+9[8,1]
// CHECK-NEXT: copy [48] %2[1] -> %6[1]
// CHECK-NEXT: loop [1,8] in out %6+32[8,1]
// CHECK-NEXT: copy [48] %3[1] -> %7[1]
// CHECK-NEXT: gather scatter %7,[[v]]
