// LAPACK's routines overwrite an operand: what holds it becomes the result, so that nothing else has
// to be there.
// REQUIRES: lapack
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: call lapack_strsm_ffi %[[A:[0-9]+]][64,64] %[[B:[0-9]+]][64,64] -> %[[C:[0-9]+]][64,64]
// CHECK: workspace 32768
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
