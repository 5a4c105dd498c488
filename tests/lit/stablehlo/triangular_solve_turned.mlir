// A triangle that lies column by column is solved with as its transpose's rows, without a copy; but
// an adjoint is conjugated too.
// RUN: not terrazzo run %s --dump program 2>&1 | FileCheck %s

func.func @main(%a: tensor<2x12x12xf32>, %z: tensor<12x12xcomplex<f32>>, %b: tensor<2x12x1xf32>, %c: tensor<12x1xcomplex<f32>>) -> (tensor<2x12x1xf32>, tensor<2x12x1xf32>, tensor<12x1xcomplex<f32>>) {
  %0 = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %1 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x12x12xf32>, tensor<2x12x1xf32>) -> tensor<2x12x1xf32>
  %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x12x12xf32>, tensor<2x12x1xf32>) -> tensor<2x12x1xf32>
  %3 = stablehlo.transpose %z, dims = [1, 0] : (tensor<12x12xcomplex<f32>>) -> tensor<12x12xcomplex<f32>>
  %4 = "stablehlo.triangular_solve"(%3, %c) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<12x12xcomplex<f32>>, tensor<12x1xcomplex<f32>>) -> tensor<12x1xcomplex<f32>>
  return %1, %2, %4 : tensor<2x12x1xf32>, tensor<2x12x1xf32>, tensor<12x1xcomplex<f32>>
}

// CHECK: @0 stablehlo.triangular_solve: call triangular_solve %0[2,12,12] %2[2,12,1] -> {{.*}} params[1,1,0,1]
// CHECK-NEXT: @1 stablehlo.triangular_solve: call triangular_solve %0[2,12,12] {{.*}} params[1,1,1,2]
// CHECK-NEXT: copy [12,12] %1
// CHECK-NEXT: call triangular_solve {{.*}} params[1,0,0,3]
