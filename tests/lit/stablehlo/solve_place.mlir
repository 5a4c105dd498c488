// A factor and a solve may lie in the place of what they are made of: one matrix beside the result.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: call cholesky
// CHECK: call triangular_solve
// CHECK: call triangular_solve
// CHECK: workspace 16384
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.add %a, %b : tensor<64x64xf32>
  %1 = stablehlo.cholesky %0, lower = true : tensor<64x64xf32>
  %2 = stablehlo.subtract %b, %a : tensor<64x64xf32>
  %3 = "stablehlo.triangular_solve"(%1, %2) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = "stablehlo.triangular_solve"(%1, %3) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
