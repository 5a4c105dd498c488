// A loop reads what it carries at the beginning of a round, and writes it anew at the end. In between
// its memory, a result's, has a value of the round, and one matrix is enough beside it.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 16384
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:2 = stablehlo.while(%x = %b, %i = %zero) : tensor<64x64xf32>, tensor<i32>
  cond {
    %go = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %y = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %z = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %s = stablehlo.subtract %y, %z : tensor<64x64xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %s, %n : tensor<64x64xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<64x64xf32>, tensor<i32>
}
