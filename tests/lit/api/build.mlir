// The example that builds a module from nothing and propagates its shardings, and runs it.
// RUN: ir_build | FileCheck %s

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK: func.func @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
// CHECK-SAME: %arg2: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding
// CHECK: stablehlo.add {{.*}}<@mesh, [{"x"}, {"y"}]>
// CHECK: return
// CHECK: on 8 devices: 35 ... 35
