// Parts of a concatenation on meshes that differ in the order of devices come to the one that most
// of them are on, the first to be there so often.
// RUN: terrazzo opt %s --sdy-insert-explicit-reshards=enable-full-version=false | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @turned = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>

func.func @order(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@turned, [{}, {"a"}]>}) -> tensor<12x8xf32> {
  %0 = stablehlo.concatenate %arg0, %arg1, %arg0, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@turned, [{}, {"a"}]>]>} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<12x8xf32>
  return %0 : tensor<12x8xf32>
}

// CHECK:      %0 = sdy.reshard %arg1 <@mesh, [{}, {"a"}]>
// CHECK-NEXT: %1 = stablehlo.concatenate %arg0, %0, %arg0, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %1 <@turned, [{}, {"a"}]>
// CHECK-NEXT: return %2
