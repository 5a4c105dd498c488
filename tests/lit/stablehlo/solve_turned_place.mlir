// A factor that LAPACK has made lies column by column. What is put in its place where it does not
// exist lies as it does, in its memory, where few solutions are asked for.
// REQUIRES: lapack
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: call lapack_sgetrf_ffi %{{[0-9]+}}[64,64] -> %[[A:[0-9]+]][64,64]
// CHECK: loop [64,64] in {{.*}}%[[A]][1,64] out %[[B:[0-9]+]][1,64]
// CHECK: call triangular_solve %[[B]][64,64] %{{[0-9]+}}[64,1] -> %{{[0-9]+}}[64,1] params[1,0,1,2]
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x1xf32>) -> tensor<64x1xf32> {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xi32>, tensor<i32>)
  %z = stablehlo.constant dense<0> : tensor<i32>
  %ok = stablehlo.compare EQ, %0#2, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<64x64xf32>
  %f = stablehlo.select %ok, %0#0, %nan : tensor<i1>, tensor<64x64xf32>
  %r = "stablehlo.triangular_solve"(%f, %b) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  return %r : tensor<64x1xf32>
}
