// The pipeline leaves the gather of a product's operand out if it is told to.
// RUN: terrazzo opt %s --pass-pipeline='sdy-export-pipeline{enable-insert-explicit-collectives=true}' | FileCheck %s --check-prefix=KEPT
// RUN: terrazzo opt %s --pass-pipeline='sdy-export-pipeline{enable-insert-explicit-collectives=true remove-all-gather-reduce-scatter-for-cmv1=true}' | FileCheck %s

// KEPT:  sdy.all_gather
// CHECK-NOT: sdy.all_gather
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
