// What is taken off one mesh and put on others is transferred, from mesh to mesh.
// RUN: mpmd_opt %s -mpmd-introduce-transfers | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m10": <["x"=2]>>>
!on1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!on2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
!on10 = !mpmd.mesh_tensor<"m10", tensor<8xf32>>

// CHECK-LABEL: @chain
func.func @chain(%a: !on1) -> (!on10, !on2, !on1) attributes {topology = #topology} {
  // CHECK-NEXT: %[[TWO:.*]] = mpmd.transfer %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK-NEXT: %[[TEN:.*]] = mpmd.transfer %[[TWO]] : {{.*}} -> !mpmd.mesh_tensor<"m10"
  // CHECK-NEXT: return %[[TEN]], %[[TWO]], %arg0
  %0 = mpmd.unassign %a : (!on1) -> tensor<8xf32>
  %1 = mpmd.assign %0 : (tensor<8xf32>) -> !on10
  %2 = mpmd.assign %0 : (tensor<8xf32>) -> !on2
  %3 = mpmd.assign %0 : (tensor<8xf32>) -> !on1
  return %1, %2, %3 : !on10, !on2, !on1
}

// A sum is computed where it is used.
// CHECK-LABEL: @sum
func.func @sum(%a: !on1, %b: !on2) -> !on2 attributes {topology = #topology} {
  // CHECK: %[[A:.*]] = mpmd.transfer %arg0
  // CHECK-NEXT: %[[SUM:.*]] = mpmd.fragment<mesh="m2", origin=[]> (%[[A]], %arg1) {mpmd.inferred_by = ["introduce_transfers"]}
  // CHECK-NEXT: stablehlo.add %arg2, %arg3
  // CHECK: return %[[SUM]]
  %0 = mpmd.unassign %a : (!on1) -> tensor<8xf32>
  %1 = mpmd.unassign %b : (!on2) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  %3 = mpmd.assign %2 : (tensor<8xf32>) -> !on2
  return %3 : !on2
}

// One that is used elsewhere too stays.
// CHECK-LABEL: @sum_used_twice
func.func @sum_used_twice(%a: !on1, %b: !on2) -> (!on2, tensor<8xf32>) attributes {topology = #topology} {
  // CHECK-NOT: mpmd.fragment
  %0 = mpmd.unassign %a : (!on1) -> tensor<8xf32>
  %1 = mpmd.unassign %b : (!on2) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  %3 = mpmd.assign %2 : (tensor<8xf32>) -> !on2
  return %3, %2 : !on2, tensor<8xf32>
}
