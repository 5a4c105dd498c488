// Shardings pass into fragments and loops and through transfers, but not between meshes that differ.
// RUN: mpmd_opt %s -sdy-add-data-flow-edges -sdy-basic-propagate -sdy-sink-data-flow-edges | FileCheck %s
// RUN: sed 's/<"m2": <\["x"=2\]>>/<"m2": <["x"=4]>>/' %s | mpmd_opt - -sdy-add-data-flow-edges -sdy-basic-propagate -sdy-sink-data-flow-edges | FileCheck %s --check-prefix=DIFFER

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: !mpmd.mesh_tensor<"m1", tensor<8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> !mpmd.mesh_tensor<"m2", tensor<8xf32>> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x", ?}]>], out_shardings=[<@mesh, [{"x", ?}]>]> (%arg0)
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%b: tensor<8xf32>) {
    // CHECK-NEXT: stablehlo.negate %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
    %3 = stablehlo.negate %b : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  // CHECK: mpmd.for (%0) {iterations = 2 : ui32, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
  %1 = mpmd.for (%0) {iterations = 2 : ui32} (%b: !mpmd.mesh_tensor<"m1", tensor<8xf32>>, %i: tensor<ui32>) {
    mpmd.return %b : !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  } : !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  // CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} %1
  // DIFFER: mpmd.transfer %1
  %2 = mpmd.transfer %1 : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<8xf32>>
  return %2 : !mpmd.mesh_tensor<"m2", tensor<8xf32>>
}
