// Shards are of whole rows of both where a reshape is of padded dimensions: neighbours pass on the
// few rows by which those are longer, one way and the other.
// RUN: terrazzo partition %s --stats 2>&1 | FileCheck %s
// RUN: terrazzo opt %s -terrazzo-reduce-in-parts | FileCheck --check-prefix=PARTS %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=8]>
func.func @main(%arg0: tensor<512x100xf32>) -> tensor<512x100xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<512x100xf32>) -> tensor<100x512xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<100x512xf32>
  %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<100x512xf32>) -> tensor<400x128xf32>
  %3 = stablehlo.tanh %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<400x128xf32>
  %4 = stablehlo.reshape %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<400x128xf32>) -> tensor<100x4x128xf32>
  %5 = stablehlo.negate %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : tensor<100x4x128xf32>
  %6 = stablehlo.transpose %5, dims = [1, 2, 0] : (tensor<100x4x128xf32>) -> tensor<4x128x100xf32>
  %7 = stablehlo.reshape %6 : (tensor<4x128x100xf32>) -> tensor<512x100xf32>
  return %7 : tensor<512x100xf32>
}

// CHECK: collective_permute{{ +}}2  "x"{{ +}}7.0 KiB
// CHECK: collective_permute{{ +}}2  "x"{{ +}}7.0 KiB

// PARTS: stablehlo.pad {{.*}} tensor<104x512xf32>
// PARTS: stablehlo.reshape {{.*}} (tensor<104x512xf32>) -> tensor<416x128xf32>
// PARTS: stablehlo.slice {{.*}} [0:400, 0:128]
// PARTS: stablehlo.pad {{.*}} tensor<416x128xf32>
// PARTS: stablehlo.reshape {{.*}} (tensor<416x128xf32>) -> tensor<104x4x128xf32>

// SAME: the sharded program computes what the whole one does
