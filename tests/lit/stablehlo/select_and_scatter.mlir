// stablehlo.select_and_scatter: all dimensions are cut. Of windows with padding of their own the first
// and the last shard have that, as it may not be selected.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD
// RUN: terrazzo opt %s -sdy-propagation-pipeline -terrazzo-partition | FileCheck %s --check-prefix=LOCAL
// RUN: terrazzo ops stablehlo.select_and_scatter | FileCheck %s --check-prefix=OPS

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%arg0: tensor<4x8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}]>}, %arg1: tensor<4x4x6xf32>, %arg2: tensor<f32>) -> tensor<4x8x6xf32> {
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [0, 1], [0, 0]]> : tensor<3x2xi64>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8x6xf32>, tensor<4x4x6xf32>, tensor<f32>) -> tensor<4x8x6xf32>
  return %0 : tensor<4x8x6xf32>
}

// CHECK: %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<{{\[\[}}0, 0], [0, 1], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 2, 1>}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT:   %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:   stablehlo.return %1 : tensor<i1>
// CHECK-NEXT: }, {
// CHECK: }) : (tensor<4x8x6xf32>, tensor<4x4x6xf32>, tensor<f32>) -> tensor<4x8x6xf32>

// SHARD: %arg1: tensor<4x4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}, {"c", ?}]>}
// SHARD: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}, {"c", ?}]>]>}

// LOCAL: collective_permute
// LOCAL: collective_permute
// LOCAL: %[[IN:.*]] = stablehlo.concatenate {{.*}} -> tensor<2x7x3xf32>
// LOCAL-NOT: all_gather
// LOCAL: "stablehlo.case"
// LOCAL: "stablehlo.select_and_scatter"(%[[IN]], {{.*}} <{padding = dense<0>
// LOCAL: stablehlo.slice {{.*}} [0:2, 2:6, 0:3]
// LOCAL: %[[FIRST:.*]] = stablehlo.slice %[[IN]] [0:2, 2:7, 0:3]
// LOCAL: "stablehlo.select_and_scatter"(%[[FIRST]], {{.*}} <{padding = dense<{{\[\[}}0, 0], [2, 0], [0, 0]]>
// LOCAL: %[[LAST:.*]] = stablehlo.slice %[[IN]] [0:2, 0:6, 0:3]
// LOCAL: "stablehlo.select_and_scatter"(%[[LAST]], {{.*}} <{padding = dense<{{\[\[}}0, 0], [0, 1], [0, 0]]>

// OPS: op                                       read        verify      infer       portable    shard       partition   run
// OPS: stablehlo.select_and_scatter             generic     yes         yes         yes         rule        partly      yes
// OPS:     for each window a source value, added where a function selects (spec.md#select_and_scatter)
