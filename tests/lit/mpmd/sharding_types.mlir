// Shardings go into types; a transfer that changes them is reported, and the pass goes on.
// RUN: mpmd_opt %s -mpmd-convert-sdy-shardings-to-mpmd-types -verify-diagnostics | FileCheck %s --implicit-check-not=sdy.sharding --implicit-check-not=in_shardings

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK: @main(%arg0: [[X:!mpmd.mesh_tensor<"m1", tensor<8xf32>, sharding=<@mesh, \[{"x"}\]>>]]) -> (!mpmd.mesh_tensor<"m1", tensor<8xf32>, sharding=<@mesh, [{"y"}]>>, !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
func.func @main(%a: !mpmd.mesh_tensor<"m1", tensor<8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (!mpmd.mesh_tensor<"m1", tensor<8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
    attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["x"=2, "y"=4]>>>} {
  // CHECK-NEXT: %[[F:.*]]:2 = mpmd.for (%arg0, %arg0) {iterations = 2 : ui32} (%arg1: [[X]], %arg2: [[X]], %index: tensor<ui32>)
  // CHECK: mpmd.fragment<mesh="m1", origin=[]> (%arg1)
  // CHECK-NEXT: stablehlo.negate %{{[^ ]*}} : tensor<8xf32>
  %0:2 = mpmd.for (%a, %a) {iterations = 2 : ui32, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>}
      (%b: !mpmd.mesh_tensor<"m1", tensor<8xf32>>, %c: !mpmd.mesh_tensor<"m1", tensor<8xf32>>, %i: tensor<ui32>) {
    %3 = mpmd.fragment<mesh="m1", origin=[], in_shardings=[<@mesh, [{"x"}]>], out_shardings=[<@mesh, [{"x"}]>]> (%b) (%d: tensor<8xf32>) {
      %4 = stablehlo.negate %d {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
      mpmd.return %4 : tensor<8xf32>
    } : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
    mpmd.return %3, %c : !mpmd.mesh_tensor<"m1", tensor<8xf32>>, !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  } : !mpmd.mesh_tensor<"m1", tensor<8xf32>>, !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  // expected-error@+1 {{Transfer op has different shardings for the operand and result on the same mesh, operand sharding: #sdy.sharding<@mesh, [{"x"}]>, result sharding: #sdy.sharding<@mesh, [{"y"}]>}}
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} %0#0 : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  %2 = mpmd.transfer %1 : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  return %1, %2 : !mpmd.mesh_tensor<"m1", tensor<8xf32>>, !mpmd.mesh_tensor<"m1", tensor<8xf32>>
}
