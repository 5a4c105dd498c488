// propagation, collecting axes along factors: F0 takes "a" and "b", F1 takes "c", F2 has a conflict.
// RUN: terrazzo opt %s --pass-pipeline='sdy-basic-propagate' | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2, "d"=2, "e"=2, "f"=2, "g"=2]>
func.func @main(%arg0: tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}, {"f", ?}]>}, %arg1: tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {"c", "d", ?}, {"g", ?}]>}) -> tensor<16x16x16xf32> {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"c", "e", ?}, {?}]>]>} : tensor<16x16x16xf32>
  return %0 : tensor<16x16x16xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2, "d"=2, "e"=2, "f"=2, "g"=2]>
// CHECK: func.func @main(%arg0: tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {"c", ?}, {"f", ?}]>}, %arg1: tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {"c", "d", ?}, {"g", ?}]>}) -> (tensor<16x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {"c", "e", ?}, {?}]>}) {
// CHECK-NEXT:   %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b", ?}, {"c", "e", ?}, {?}]>]>} : tensor<16x16x16xf32>
// CHECK-NEXT:   return %0 : tensor<16x16x16xf32>
// CHECK-NEXT: }
