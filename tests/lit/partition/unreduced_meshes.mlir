// Parts along an axis of one mesh are none along an axis of another.
// RUN: terrazzo opt %s -terrazzo-insert-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=6, "y"=2]>
sdy.mesh @other = <["a"=2, "b"=6]>
// CHECK: %0 = sdy.all_reduce {"b"} %arg0 out_sharding=<@other, [{}]>
// CHECK: %[[P:.*]] = sdy.replicated_to_unreduced {"y"}
// CHECK: sdy.all_reduce {"y"}
func.func @main(%arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@other, [{}], unreduced={"b"}>}) -> tensor<4xi32> {
  %0 = sdy.reshard %arg0 <@mesh, [{}], unreduced={"y"}> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
