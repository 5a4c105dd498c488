// What a shard needs of its neighbours comes by permutations of just that.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @m = <["x"=4]>
#rows = #sdy.sharding<@m, [{"x"}, {}]>

// CHECK-LABEL: func.func @pad
// CHECK: %[[LAST:.*]] = stablehlo.slice %arg0 [3:4, 0:3]
// CHECK: "stablehlo.collective_permute"(%[[LAST]])
// CHECK-SAME: dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
// CHECK-NOT: collective_permute
// CHECK: stablehlo.concatenate
// CHECK-NOT: stablehlo.select
func.func @pad(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [1, 0], high = [-1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<16x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  return %0 : tensor<16x3xf32>
}

// What is not zero needs a mask.
// CHECK-LABEL: func.func @pad_ones
// CHECK: collective_permute
// CHECK-NOT: collective_permute
// CHECK: stablehlo.select
func.func @pad_ones(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [1, 0], high = [-1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<16x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  return %0 : tensor<16x3xf32>
}

// Nothing moves.
// CHECK-LABEL: func.func @every_other
// CHECK-NOT: collective_permute
// CHECK: stablehlo.slice %{{.*}} [0:3:2, 0:3]
func.func @every_other(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<8x3xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.slice %a [0:16:2, 0:3] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<16x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// Each half of a shard goes its own way.
// CHECK-LABEL: func.func @first_half
// CHECK: "stablehlo.collective_permute"({{.*}}) <{{.*}}dense<{{\[\[}}0, 0], [1, 2]]>
// CHECK: "stablehlo.collective_permute"({{.*}}) <{{.*}}dense<{{\[\[}}0, 1], [1, 3]]>
// CHECK-NOT: collective_permute
// CHECK: stablehlo.select
func.func @first_half(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<8x3xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.slice %a [0:8, 0:3] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<16x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @reverse
// CHECK: "stablehlo.collective_permute"(%arg0) <{{.*}}dense<{{\[\[}}3, 0], [2, 1], [1, 2], [0, 3]]>
// CHECK-NEXT: stablehlo.reverse
func.func @reverse(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : tensor<16x3xf32>
  return %0 : tensor<16x3xf32>
}
