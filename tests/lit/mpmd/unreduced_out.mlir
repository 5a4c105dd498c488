// A fragment says in which parts a result is, where a constraint on it says so.
// RUN: mpmd_opt %s -mpmd-populate-unreduced-out-sharding | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
!on1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>

func.func @main(%a: !on1) -> (!on1, !on1, !on1) attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["x"=2, "y"=4]>>>} {
  // CHECK: mpmd.fragment<mesh="m1", origin=["f"], out_shardings=[<@mesh, [{}], unreduced={"x"}>, <@mesh, [{}]>]>
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%b: tensor<8xf32>) {
    %2 = sdy.sharding_constraint %b <@mesh, [{?}], unreduced={"x"}> : tensor<8xf32>
    %3 = sdy.sharding_constraint %b <@mesh, [{"y"}]> : tensor<8xf32>
    mpmd.return %2, %3 : tensor<8xf32>, tensor<8xf32>
  } : (!on1) -> (!on1, !on1)
  // CHECK: mpmd.fragment<mesh="m1", origin=["g"]>
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%a) (%b: tensor<8xf32>) {
    %2 = sdy.sharding_constraint %b <@mesh, [{"y"}]> : tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : (!on1) -> !on1
  return %0#0, %0#1, %1 : !on1, !on1, !on1
}
