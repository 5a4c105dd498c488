// A sum along one part of an axis, and a slice along a part that is cut otherwise, are no
// reduce-scatter.
// RUN: terrazzo opt %s -terrazzo-fuse-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=6]>
// CHECK-LABEL: func.func @main
// CHECK: %0 = sdy.all_reduce {"x":(2)3} %arg0
// CHECK-NEXT: %1 = sdy.all_slice [{"x":(3)2}] %0
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(3)2}]>}) {
  %0 = sdy.all_reduce {"x":(2)3} %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_slice [{"x":(3)2}] %0 out_sharding=<@mesh, [{"x":(3)2}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
