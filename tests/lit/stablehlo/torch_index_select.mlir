// stablehlo.torch_index_select: a gather with batches.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.torch_index_select | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = "stablehlo.torch_index_select"(%cst, %c) <{batch_dims = 1 : i64, dim = 1 : i64}> : (tensor<2x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x6xf32>
// OPS: stablehlo.torch_index_select generic yes - yes extra rule whole yes
// FLAT: stablehlo.gather
// FLAT-NOT: stablehlo.torch_index_select
func.func @main() -> tensor<2x3x6xf32> {
  %x = stablehlo.constant dense<2.0> : tensor<2x4x6xf32>
  %i = stablehlo.constant dense<1> : tensor<2x3xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) {batch_dims = 1 : i64, dim = 1 : i64} : (tensor<2x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x6xf32>
  return %0 : tensor<2x3x6xf32>
}
