// What one of LAPACK's routines writes stays as it is for the next one, and is seen through other
// strides by who else reads it.
// REQUIRES: lapack
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: copy [8,64] %0[1,8] -> %[[A:[0-9]+]][64,1]
// CHECK-NEXT: call lapack_sgeqrf_ffi %[[A]][8,64] -> %[[B:[0-9]+]][8,64] %[[T:[0-9]+]][8]
// CHECK-NEXT: call lapack_sorgqr_ffi %[[B]][8,64] %[[T]][8] -> %[[C:[0-9]+]][8,64]
// CHECK-NEXT: copy [8,64] %[[C]][64,1] -> %1[1,8]
// CHECK-NEXT: loop [64,8] in %[[B]][1,64] out %2[8,1]
func.func @main(%a: tensor<64x8xf32>) -> (tensor<64x8xf32>, tensor<64x8xf32>) {
  %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0]> : tensor<1xindex>]} : (tensor<64x8xf32>) -> (tensor<64x8xf32>, tensor<8xf32>)
  %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0]> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<64x8xf32>, tensor<8xf32>) -> tensor<64x8xf32>
  %2 = stablehlo.negate %0#0 : tensor<64x8xf32>
  return %1, %2 : tensor<64x8xf32>, tensor<64x8xf32>
}
