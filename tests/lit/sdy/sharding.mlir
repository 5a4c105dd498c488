// Every part of a sharding: open and closed dimensions, priorities, sub-axes, replicated and
// unreduced axes.
// RUN: terrazzo opt %s | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b", ?}p1]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c":(2)2, ?}, {}], replicated={"a"}>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", "c":(1)2}], unreduced={"a"}>}) -> tensor<8x8xf32> {
  return %arg0 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2, "c"=8]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b", ?}p1]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c":(2)2, ?}, {}], replicated={"a"}>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", "c":(1)2}], unreduced={"a"}>}) -> tensor<8x8xf32> {
// CHECK-NEXT:   return %arg0 : tensor<8x8xf32>
// CHECK-NEXT: }
