// Between the parts of x stood an axis of size one, which vanished at import.
// RUN: not terrazzo run %s --devices 4 --dump terrazzo-drop-indivisible-axes 2>&1 | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=1]>
// CHECK: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "y", "x":(2)2}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
