// What is factored may be overwritten also where nobody reads what is left of it.
// REQUIRES: lapack
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: call lapack_sgetrf_ffi %[[A:[0-9]+]][64,64] -> %[[B:[0-9]+]][64,64]
// CHECK: devices 1, steps {{[0-9]+}}, workspace 16448
func.func @main(%a: tensor<64x64xf32>) -> tensor<64xi32> {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xi32>, tensor<i32>)
  return %0#1 : tensor<64xi32>
}
