// Fragments take and give values at the program's borders as the user said; parts of axes, which who
// calls cannot say, are cut off.
// RUN: mpmd_opt %s -mpmd-enforce-user-shardings -verify-diagnostics | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
!on1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>

// CHECK: @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
// expected-warning@+1 {{Sub-axes sharding found for arg 0. This is not supported, and sharding will be tuncated. Original sharding: #sdy.sharding<@mesh, [{"x", "y":(1)2}]>; truncated sharding: #sdy.sharding<@mesh, [{"x"}]> Please contact the MPMD team.}}
func.func @main(%a: !on1 {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2}]>}, %b: !on1)
    -> (!on1 {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, !on1) attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["x"=2, "y"=4]>>>} {
  // CHECK: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>], out_shardings=[<@mesh, [{"y"}]>, <@mesh, [{"x"}]>]>
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}]>, <@mesh, [{"y"}]>], out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>
      (%a, %b) (%c: tensor<8xf32>, %d: tensor<8xf32>) {
    mpmd.return %c, %d : tensor<8xf32>, tensor<8xf32>
  } : (!on1, !on1) -> (!on1, !on1)
  return %0#0, %0#1 : !on1, !on1
}
