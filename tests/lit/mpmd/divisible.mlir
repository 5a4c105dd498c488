// Borders of fragments and what transfers give are cut evenly.
// RUN: mpmd_opt %s -sdy-update-non-divisible-input-output-shardings | FileCheck %s

sdy.mesh @mesh = <["x"=3]>
// CHECK: %arg0: !mpmd.mesh_tensor<"m1", tensor<8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
func.func @main(%a: !mpmd.mesh_tensor<"m1", tensor<8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> !mpmd.mesh_tensor<"m1", tensor<8xf32>> attributes {topology = #mpmd.topology<<"m1": <["x"=3]>>>} {
  // CHECK: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}]>], out_shardings=[<@mesh, [{}]>]>
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}]>], out_shardings=[<@mesh, [{"x"}]>]> (%a) (%b: tensor<8xf32>) {
    mpmd.return %b : tensor<8xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  // CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %0 : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  return %1 : !mpmd.mesh_tensor<"m1", tensor<8xf32>>
}
