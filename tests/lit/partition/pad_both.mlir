// One dimension is read in a window, the other has elements put between and cut off: it keeps its
// size, and is not what was read.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=2]>

// CHECK: "stablehlo.collective_permute"
// CHECK: stablehlo.pad {{.*}} low = [0, 0], high = [0, -1], interior = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
func.func @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %a, %one, low = [1, 0], high = [-1, -1], interior = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
