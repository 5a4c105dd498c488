// A concatenation of slices may be sharded along its dimension; an all-reduce of what it takes does not change that.
// RUN: terrazzo opt %s --pass-pipeline='sdy-propagation-pipeline' | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2, "d"=4]>
func.func @main(%arg0: tensor<12x4xf32>) -> (tensor<12x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "c"}, {"d"}]>}) {
  %0 = stablehlo.slice %arg0 [0:12, 1:4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {?}], unreduced={"d"}>]>} : (tensor<12x4xf32>) -> tensor<12x3xf32>
  %1 = stablehlo.concatenate %0, %0, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "c"}, {"d"}]>]>} : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<12x6xf32>
  return %1 : tensor<12x6xf32>
}

// CHECK: %3 = sdy.reshard %1 <@mesh, [{"a", "c"}, {"d"}]>
// CHECK-NEXT: %4 = sdy.reshard %2 <@mesh, [{"a", "c"}, {"d"}]>
// CHECK-NEXT: stablehlo.concatenate %3, %4, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "c"}, {"d"}]>]>}
// CHECK-NOT: sharding_rule
