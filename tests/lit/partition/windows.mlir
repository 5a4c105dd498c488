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

// A convolution in steps of 2: one row from the next shard, and nothing behind the last.
// CHECK-LABEL: func.func @convolution
// CHECK: stablehlo.slice %arg0 [0:1, 0:1, 0:1]
// CHECK: "stablehlo.collective_permute"({{.*}}) <{{.*}}dense<{{\[\[}}1, 0], [2, 1], [3, 2]]>
// CHECK: stablehlo.concatenate
// CHECK-NOT: select
// CHECK: stablehlo.convolution
// CHECK-SAME: stride = [2], pad = {{\[\[}}0, 0]]
func.func @convolution(%a: tensor<16x1x1xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}, %k: tensor<3x1x1xf32>) -> (tensor<8x1x1xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [0, b, f]x[0, i, o]->[0, b, f], window = {stride = [2], pad = [[0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}]>]>} : (tensor<16x1x1xf32>, tensor<3x1x1xf32>) -> tensor<8x1x1xf32>
  return %0 : tensor<8x1x1xf32>
}

// The gradient of its kernel: parts of a sum.
// CHECK-LABEL: func.func @kernel_gradient
// CHECK: collective_permute
// CHECK: stablehlo.convolution
// CHECK-SAME: rhs_dilate = [2]
// CHECK-SAME: (tensor<5x1x1xf32>, tensor<2x1x1xf32>) -> tensor<3x1x1xf32>
// CHECK: stablehlo.all_reduce
func.func @kernel_gradient(%a: tensor<16x1x1xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}, %g: tensor<8x1x1xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}) -> tensor<3x1x1xf32> {
  %0 = stablehlo.convolution(%a, %g) dim_numbers = [0, b, f]x[0, i, o]->[0, b, f], window = {stride = [1], pad = [[0, 1]], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}, {}]>]>} : (tensor<16x1x1xf32>, tensor<8x1x1xf32>) -> tensor<3x1x1xf32>
  return %0 : tensor<3x1x1xf32>
}

// The gradient of its input: elements of the output's gradient with others between them.
// CHECK-LABEL: func.func @input_gradient
// CHECK: "stablehlo.collective_permute"({{.*}}) <{{.*}}dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
// CHECK-NOT: collective_permute
// CHECK: stablehlo.convolution
// CHECK-SAME: pad = {{\[\[}}0, 1]], lhs_dilate = [2]
// CHECK-SAME: (tensor<3x1x1xf32>, tensor<3x1x1xf32>) -> tensor<4x1x1xf32>
func.func @input_gradient(%g: tensor<8x1x1xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}, %k: tensor<3x1x1xf32>) -> (tensor<16x1x1xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}, {}]>}) {
  %0 = stablehlo.convolution(%g, %k) dim_numbers = [0, b, f]x[0, i, o]->[0, b, f], window = {stride = [1], pad = [[2, 1]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}, {}]>]>} : (tensor<8x1x1xf32>, tensor<3x1x1xf32>) -> tensor<16x1x1xf32>
  return %0 : tensor<16x1x1xf32>
}

// CHECK-LABEL: func.func @running_pairs
// CHECK: collective_permute
// CHECK-NOT: collective_permute
// CHECK: select
// CHECK: "stablehlo.reduce_window"
// CHECK-SAME: padding = dense<0>
func.func @running_pairs(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
