// Fragments reshard, on the side where a device has less of it then, and transfers only move.
// RUN: mpmd_opt %s -mpmd-extract-reshards-from-inter-mesh-transfers -verify-diagnostics | FileCheck %s
// RUN: sed 's/"m1", tensor<8xf32>>/"m1", tensor<8xf32>, memory_kind="pinned_host">/;s/"m2", tensor<8xf32>>/"m2", tensor<8xf32>, memory_kind="pinned_host">/' %s > %t.mlir
// RUN: not mpmd_opt %t.mlir -mpmd-extract-reshards-from-inter-mesh-transfers 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: Resharding on host not supported with an mpmd.transfer.

sdy.mesh @mesh = <["x"=2, "y"=4]>
!on1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!on2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>

// CHECK-LABEL: @behind
func.func @behind(%a: !on1 {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
    -> !on2 attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["x"=2, "y"=4]>>>} {
  // CHECK-NEXT: %[[T:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} %arg0
  // CHECK-NEXT: %[[R:.*]] = mpmd.fragment<mesh="m2", origin=[], out_shardings=[<@mesh, [{"x"}]>]> (%[[T]]) {mpmd.inferred_by = ["extract_reshards"]}
  // CHECK: return %[[R]]
  // expected-warning@+1 {{Found a resharding transfer in the module. This may cause performance issues.}}
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %a : (!on1) -> !on2
  return %0 : !on2
}

// CHECK-LABEL: @before
func.func @before(%a: !on1) -> (!on2, !on1) attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["x"=2, "y"=4]>>>} {
  // CHECK: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"], out_shardings=[<@mesh, [{"y"}]>]> (%arg0)
  // CHECK: %[[R:.*]] = mpmd.fragment<mesh="m1", origin=[], out_shardings=[<@mesh, [{"x"}]>]> (%[[F]]) {mpmd.inferred_by = ["extract_reshards"]}
  // CHECK: %[[T:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} %[[F]]
  // CHECK-NEXT: return %[[T]], %[[R]]
  %0 = mpmd.fragment<mesh="m1", origin=["f"], out_shardings=[<@mesh, [{"x"}]>]> (%a) (%b: tensor<8xf32>) {
    mpmd.return %b : tensor<8xf32>
  } : (!on1) -> !on1
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} %0 : (!on1) -> !on2
  return %1, %0 : !on2, !on1
}
