// The id of a group is a name, however large: groups cost no more than their members do.
// RUN: terrazzo opt %s -sdy-basic-propagate | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>
// CHECK: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}, %arg3: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}, %arg3: tensor<8xf32>) {
  sdy.sharding_group %arg3 group_id=2000000000 : tensor<8xf32>
  sdy.sharding_group %arg0 group_id=9223372036854775807 : tensor<8xf32>
  sdy.sharding_group %arg2 group_id=2000000000 : tensor<8xf32>
  sdy.sharding_group %arg1 group_id=9223372036854775807 : tensor<8xf32>
  return
}
