// module-dump-directory: the module before, between and after, under Shardy's names.
// RUN: rm -rf %t && mkdir %t
// RUN: terrazzo opt %s -sdy-propagation-pipeline=module-dump-directory=%t | FileCheck %s
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --check-prefix=FIRST --input-file=%t/02.propagation_after_user_priority_0.mlir

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}p1]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>}
// FILES: 01.before_propagation.mlir
// FILES-NEXT: 02.after_propagation.mlir
// FILES-NEXT: 02.propagation_after_user_priority_0.mlir
// FILES-NEXT: 03.after_minimal_partitioner_with_global_shapes.mlir
// FIRST: stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>
