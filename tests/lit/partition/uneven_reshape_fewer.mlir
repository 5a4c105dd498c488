// What is cut by fewer axes behind a reshape of an uneven dimension is gathered behind it.
// RUN: terrazzo partition %s --stats 2>&1 | FileCheck %s

sdy.mesh @mesh = <["x"=8]>
func.func @main(%arg0: tensor<512x100xf32>) -> tensor<400x128xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<512x100xf32>) -> tensor<100x512xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<100x512xf32>
  %2 = stablehlo.reshape %1 : (tensor<100x512xf32>) -> tensor<400x128xf32>
  %3 = stablehlo.tanh %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)4}, {}]>]>} : tensor<400x128xf32>
  return %3 : tensor<400x128xf32>
}

// CHECK: collective_permute{{ +}}2  "x"{{ +}}7.0 KiB
// CHECK: all_gather{{ +}}2  "x":(4)2{{ +}}25.0 KiB
// CHECK-NOT: all_to_all
