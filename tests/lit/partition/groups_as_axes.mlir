// Where nobody reads the program, groups name axes, and types are not recorded.
// RUN: terrazzo opt %s "-sdy-propagation-pipeline=leave-reshards=true" "-terrazzo-partition=unseen=true" | FileCheck %s

sdy.mesh @m = <["x"=2, "y"=2]>
// CHECK: func.func @main(%arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>},
// CHECK-NOT: terrazzo.global_type
// CHECK: "stablehlo.all_reduce"
// CHECK-SAME: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "x">]>
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.tanh %0 : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
