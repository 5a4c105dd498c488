// A product whose result is on another mesh over the same devices is computed as the result is
// sharded, where that sends less than to bring it there: 224 bytes a device instead of 320.
// RUN: terrazzo partition %s --stats | FileCheck %s

// CHECK: 3 collectives, run 3 times;     224 B sent by a device

sdy.mesh @mesh = <["x"=8]>
sdy.mesh @other = <["a"=2, "b"=4]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}, {"b"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
