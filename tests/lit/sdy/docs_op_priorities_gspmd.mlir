// dialect_agnostic_sharding, the figure of op priorities: where the add goes first, the product and the bias
// are sharded as it is; where the product goes first, it takes the one of two choices that the add does not.
// RUN: terrazzo opt %s --pass-pipeline='sdy-op-priority-propagate' | FileCheck %s
// RUN: terrazzo opt %s --pass-pipeline='sdy-aggressive-propagate' | FileCheck %s --check-prefix=WITHOUT

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%f_d: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x", ?}]>}, %b_f: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}, %d: tensor<16xf32>, %zero: tensor<f32>) -> tensor<4x16xf32> {
  %0 = stablehlo.dot_general %b_f, %f_d, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = stablehlo.broadcast_in_dim %d, dims = [1] : (tensor<16xf32>) -> tensor<4x16xf32>
  %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : tensor<4x16xf32>
  %3 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
  %4 = stablehlo.maximum %2, %3 : tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK: func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x", ?}]>}, %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}, %arg2: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}]>}, %arg3: tensor<f32>) -> (tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}) {
// CHECK-NEXT:   %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:   %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : (tensor<16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT:   %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : tensor<4x16xf32>
// CHECK-NEXT:   %3 = stablehlo.broadcast_in_dim %arg3, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : (tensor<f32>) -> tensor<4x16xf32>
// CHECK-NEXT:   %4 = stablehlo.maximum %2, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : tensor<4x16xf32>
// CHECK-NEXT:   return %4 : tensor<4x16xf32>
// CHECK-NEXT: }

// WITHOUT: sdy.mesh @mesh = <["x"=2, "y"=2]>
// WITHOUT: func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x", ?}]>}, %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}, %arg2: tensor<16xf32>, %arg3: tensor<f32>) -> (tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y", ?}]>}) {
// WITHOUT-NEXT:   %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
// WITHOUT-NEXT:   %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : (tensor<16xf32>) -> tensor<4x16xf32>
// WITHOUT-NEXT:   %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : tensor<4x16xf32>
// WITHOUT-NEXT:   %3 = stablehlo.broadcast_in_dim %arg3, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : (tensor<f32>) -> tensor<4x16xf32>
// WITHOUT-NEXT:   %4 = stablehlo.maximum %2, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {"y", ?}]>]>} : tensor<4x16xf32>
// WITHOUT-NEXT:   return %4 : tensor<4x16xf32>
// WITHOUT-NEXT: }
