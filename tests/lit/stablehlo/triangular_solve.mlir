// stablehlo.triangular_solve: batches and right sides are cut, triangles stay whole.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD
// RUN: terrazzo opt %s -sdy-propagation-pipeline -terrazzo-partition | FileCheck %s --check-prefix=LOCAL
// RUN: not terrazzo run %s --devices 4 --dump program 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: terrazzo ops stablehlo.triangular_solve | FileCheck %s --check-prefix=OPS

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<4x6x6xf32>, %arg1: tensor<4x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}, {"b"}]>}) -> tensor<4x6x8xf32> {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}

// CHECK: %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
// SHARD: %arg0: tensor<4x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}, {?}]>}
// SHARD: "stablehlo.triangular_solve"(%arg0, %arg1) {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}, {"b", ?}]>]>}
// LOCAL: %0 = "stablehlo.triangular_solve"(%arg0, %arg1) {{.*}} : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
// LOCAL-NEXT: return %0
// STEPS: stablehlo.triangular_solve: call triangular_solve {{.*}} params[1,1,0,3]
// OPS: stablehlo.triangular_solve generic yes yes yes rule partly yes
