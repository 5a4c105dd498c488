// Twelve heads in eight parts: four parts of the axis cut the heads, and propagation has the rest of it
// nowhere, so that two devices each would hold and compute the same heads. It cuts the batch instead.
// RUN: terrazzo partition %s | FileCheck %s
// RUN: terrazzo partition %s --as-propagated | FileCheck %s --check-prefix=SHARDY

// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x512x3x64xf32>, tensor<2x512x3x64xf32>) -> tensor<2x3x512x512xf32>
// SHARDY: stablehlo.dot_general {{.*}} : (tensor<4x512x3x64xf32>, tensor<4x512x3x64xf32>) -> tensor<4x3x512x512xf32>

sdy.mesh @mesh = <["model"=8]>

func.func @main(%x: tensor<4x512x768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>},
                %q: tensor<768x768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                %k: tensor<768x768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                %o: tensor<768x768xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<4x512x768xf32> {
  %0 = stablehlo.dot_general %x, %q, contracting_dims = [2] x [0] : (tensor<4x512x768xf32>, tensor<768x768xf32>) -> tensor<4x512x768xf32>
  %1 = stablehlo.dot_general %x, %k, contracting_dims = [2] x [0] : (tensor<4x512x768xf32>, tensor<768x768xf32>) -> tensor<4x512x768xf32>
  %2 = stablehlo.reshape %0 : (tensor<4x512x768xf32>) -> tensor<4x512x12x64xf32>
  %3 = stablehlo.reshape %1 : (tensor<4x512x768xf32>) -> tensor<4x512x12x64xf32>
  %4 = stablehlo.dot_general %2, %3, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<4x512x12x64xf32>, tensor<4x512x12x64xf32>) -> tensor<4x12x512x512xf32>
  %5 = stablehlo.tanh %4 : tensor<4x12x512x512xf32>
  %6 = stablehlo.dot_general %5, %3, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<4x12x512x512xf32>, tensor<4x512x12x64xf32>) -> tensor<4x12x512x64xf32>
  %7 = stablehlo.transpose %6, dims = [0, 2, 1, 3] : (tensor<4x12x512x64xf32>) -> tensor<4x512x12x64xf32>
  %8 = stablehlo.reshape %7 : (tensor<4x512x12x64xf32>) -> tensor<4x512x768xf32>
  %9 = stablehlo.dot_general %8, %o, contracting_dims = [2] x [0] : (tensor<4x512x768xf32>, tensor<768x768xf32>) -> tensor<4x512x768xf32>
  return %9 : tensor<4x512x768xf32>
}
