// A rotation needs the border of one neighbour, though the slices it is made of have no even shards.
// RUN: terrazzo opt %s -terrazzo-join-slices | FileCheck %s --check-prefix=JOIN
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @m = <["x"=4]>
#rows = #sdy.sharding<@m, [{"x"}, {}]>

// JOIN-LABEL: func.func @roll
// JOIN-NEXT: stablehlo.custom_call @terrazzo.pieces(%arg0)
// JOIN-SAME: terrazzo.pieces = array<i64: 0, 1, 16, 1>
// CHECK-LABEL: func.func @roll
// CHECK: stablehlo.slice %arg0 [0:1, 0:3]
// CHECK: "stablehlo.collective_permute"
// CHECK-SAME: dense<{{\[\[}}1, 0], [2, 1], [3, 2], [0, 3]]>
// CHECK-NEXT: stablehlo.concatenate
// CHECK-NEXT: return
func.func @roll(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.slice %a [1:16, 0:3] : (tensor<16x3xf32>) -> tensor<15x3xf32>
  %1 = stablehlo.slice %a [0:1, 0:3] : (tensor<16x3xf32>) -> tensor<1x3xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<15x3xf32>, tensor<1x3xf32>) -> tensor<16x3xf32>
  return %2 : tensor<16x3xf32>
}

// What comes in is whole on every device, and only the first takes it.
// JOIN-LABEL: func.func @shift
// JOIN-NEXT: stablehlo.custom_call @terrazzo.pieces(%arg1, %arg0)
// JOIN-SAME: terrazzo.pieces = array<i64: 0, 0, 1, 0, 0, 15, 1>
// CHECK-LABEL: func.func @shift
// CHECK: collective_permute
// CHECK-NOT: collective_permute
// CHECK-NOT: all_gather
// CHECK: stablehlo.select
func.func @shift(%a: tensor<16x3xf32> {sdy.sharding = #rows}, %b: tensor<1x3xf32>) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.slice %a [0:15, 0:3] : (tensor<16x3xf32>) -> tensor<15x3xf32>
  %1 = stablehlo.concatenate %b, %0, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<1x3xf32>, tensor<15x3xf32>) -> tensor<16x3xf32>
  return %1 : tensor<16x3xf32>
}

// JOIN-LABEL: func.func @padded
// JOIN-NEXT: stablehlo.pad %arg0, %arg1, low = [-1, 0], high = [1, 0]
// JOIN-NEXT: return
// CHECK-LABEL: func.func @padded
// CHECK: collective_permute
// CHECK-NOT: collective_permute
// CHECK: return
func.func @padded(%a: tensor<16x3xf32> {sdy.sharding = #rows}, %b: tensor<f32>) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.pad %a, %b, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<16x3xf32>, tensor<f32>) -> tensor<18x3xf32>
  %1 = stablehlo.slice %0 [2:18, 0:3] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<18x3xf32>) -> tensor<16x3xf32>
  return %1 : tensor<16x3xf32>
}

// The gradient of a shift.
// JOIN-LABEL: func.func @padded_slice
// JOIN: %[[FILL:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1x3xf32>
// JOIN-NEXT: stablehlo.custom_call @terrazzo.pieces(%arg0, %[[FILL]])
// JOIN-SAME: terrazzo.pieces = array<i64: 0, 1, 15, 1, 0, 1, 0>
// CHECK-LABEL: func.func @padded_slice
// CHECK: collective_permute
// CHECK-NOT: collective_permute
// CHECK-NOT: all_gather
// CHECK: return
func.func @padded_slice(%a: tensor<16x3xf32> {sdy.sharding = #rows}, %b: tensor<f32>) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.slice %a [1:16, 0:3] : (tensor<16x3xf32>) -> tensor<15x3xf32>
  %1 = stablehlo.pad %0, %b, low = [0, 0], high = [1, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<15x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  return %1 : tensor<16x3xf32>
}

// The gradient of a rotation is a rotation, plus zero, which makes of -0 a 0.
// JOIN-LABEL: func.func @sum_of_pads
// JOIN: %[[P:.*]] = stablehlo.custom_call @terrazzo.pieces(%arg0)
// JOIN-SAME: terrazzo.pieces = array<i64: 0, 13, 16, 1>
// JOIN: stablehlo.add %[[P]], %{{.*}} {
// CHECK-LABEL: func.func @sum_of_pads
// CHECK: collective_permute
// CHECK-NOT: collective_permute
// CHECK-NOT: all_
// CHECK: return
func.func @sum_of_pads(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [0:13, 0:3] : (tensor<16x3xf32>) -> tensor<13x3xf32>
  %1 = stablehlo.slice %a [13:16, 0:3] : (tensor<16x3xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.pad %0, %c, low = [3, 0], high = [0, 0], interior = [0, 0] : (tensor<13x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  %3 = stablehlo.pad %1, %c, low = [0, 0], high = [13, 0], interior = [0, 0] : (tensor<3x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  %4 = stablehlo.add %2, %3 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : tensor<16x3xf32>
  return %4 : tensor<16x3xf32>
}

// Where they overlap, or are padded with something else, they are added.
// JOIN-LABEL: func.func @overlapping_pads
// JOIN-COUNT-2: stablehlo.pad
// JOIN: stablehlo.add
func.func @overlapping_pads(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<16x3xf32> {sdy.sharding = #rows}) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %a [0:7, 0:3] : (tensor<16x3xf32>) -> tensor<7x3xf32>
  %1 = stablehlo.slice %a [5:15, 0:3] : (tensor<16x3xf32>) -> tensor<10x3xf32>
  %2 = stablehlo.pad %0, %c, low = [0, 0], high = [9, 0], interior = [0, 0] : (tensor<7x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  %3 = stablehlo.pad %1, %c, low = [6, 0], high = [0, 0], interior = [0, 0] : (tensor<10x3xf32>, tensor<f32>) -> tensor<16x3xf32>
  %4 = stablehlo.add %2, %3 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : tensor<16x3xf32>
  return %4 : tensor<16x3xf32>
}

// Padding of dimensions that are whole stays where it is: every shard is padded by itself, and what
// is between the elements of a window's operand is seen there without looking.
// JOIN-LABEL: func.func @padded_whole
// JOIN: stablehlo.pad %arg0
// JOIN-NOT: base_dilations
// JOIN: return
// CHECK-LABEL: func.func @padded_whole
// CHECK: stablehlo.pad %arg0, %{{.*}}, low = [0, 1], high = [0, 1], interior = [0, 1]
// CHECK: return
func.func @padded_whole(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<16x6xf32> {sdy.sharding = #rows}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [0, 1], high = [0, 1], interior = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<16x3xf32>, tensor<f32>) -> tensor<16x7xf32>
  %1 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<16x7xf32>, tensor<f32>) -> tensor<16x6xf32>
  return %1 : tensor<16x6xf32>
}

// JOIN-LABEL: func.func @padded_rows
// JOIN: base_dilations = array<i64: 2, 1>
// CHECK-LABEL: func.func @padded_rows
// CHECK-NOT: all_gather
// CHECK: return
func.func @padded_rows(%a: tensor<16x3xf32> {sdy.sharding = #rows}) -> (tensor<32x3xf32> {sdy.sharding = #rows}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [1, 0], high = [1, 0], interior = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<16x3xf32>, tensor<f32>) -> tensor<33x3xf32>
  %1 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<33x3xf32>, tensor<f32>) -> tensor<32x3xf32>
  return %1 : tensor<32x3xf32>
}
