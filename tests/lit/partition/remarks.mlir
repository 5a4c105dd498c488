// What an op needs whole although it is sharded is said, with its place; the program is right.
// RUN: terrazzo partition %s 2>&1 | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK: remarks.mlir:[[@LINE+4]]:{{[0-9]+}}: remark: 'stablehlo.cholesky' op needs dimension 1 of operand 0 whole, which is in 2 parts
// CHECK: func.func @main
// CHECK: all_to_all
func.func @main(%a: tensor<4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<4x8x8xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}
