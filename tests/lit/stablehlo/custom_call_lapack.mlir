// stablehlo.custom_call of LAPACK: copies into column-major matrices and out of them, and a call.
// REQUIRES: lapack
// RUN: not terrazzo run %s --dump program 2>&1 | FileCheck %s
func.func @main(%arg0: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%arg0) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>
}

// CHECK: stablehlo.custom_call: copy
// CHECK: stablehlo.custom_call: call lapack_sgetrf_ffi {{.*}}[2,5,3] -> {{.*}}[2,5,3] {{.*}}[2,3] {{.*}}[2] params[0,0,0,0,0,0,0,0,0,0,0,0]
// CHECK: stablehlo.custom_call: copy
