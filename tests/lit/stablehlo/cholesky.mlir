// stablehlo.cholesky: batches are cut, matrices stay whole.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD
// RUN: terrazzo opt %s -sdy-propagation-pipeline -terrazzo-partition | FileCheck %s --check-prefix=LOCAL
// RUN: not terrazzo run %s --devices 4 --dump program 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: terrazzo ops stablehlo.cholesky | FileCheck %s --check-prefix=OPS

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<4x6x6xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}, {"b"}]>}) -> tensor<4x6x6xf64> {
  %0 = stablehlo.cholesky %arg0, lower = true : tensor<4x6x6xf64>
  return %0 : tensor<4x6x6xf64>
}

// CHECK: %0 = stablehlo.cholesky %arg0, lower = true : tensor<4x6x6xf64>
// SHARD: stablehlo.cholesky %arg0, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}, {"b", ?}]>]>}
// LOCAL: %[[ALL:.*]] = "stablehlo.all_to_all"(%arg0)
// LOCAL: stablehlo.cholesky %[[ALL]], lower = true : tensor<1x6x6xf64>
// STEPS: stablehlo.cholesky: call cholesky {{.*}} params[1]
// OPS: stablehlo.cholesky form yes yes yes rule partly yes
