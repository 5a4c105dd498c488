// From names to fragments: calls are inlined, what has no mesh gets the one where it is used, and
// goes into the fragment there.
// RUN: mpmd_opt %s -mpmd-import-pipeline=name-to-mesh-assignment=f@m1,g@m2 | FileCheck %s
// RUN: mpmd_opt %s -mpmd-import-pipeline='name-to-mesh-assignment=f@m1,g@m2 merge-after-scheduling constraints=0:0' | FileCheck %s --check-prefix=LATER
// RUN: not mpmd_opt %s -mpmd-import-pipeline=name-to-mesh-assignment=f@m1 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: Top-level NamedComputation 'g' is not assigned to a mesh

// CHECK: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<8xf32>>
// CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: stablehlo.add %arg1, %arg1
// CHECK: %[[T:.*]] = mpmd.transfer %[[F]]
// CHECK-NEXT: %[[G:.*]] = mpmd.fragment<mesh="m2", origin=["g"]> (%[[T]]) (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg1, %arg1
// CHECK-NEXT: stablehlo.negate %[[SUM]]
// CHECK: return %[[G]]
// CHECK-NOT: @double

// LATER: mpmd.fragment<mesh="m2", origin=[]> ({{.*}}) {mpmd.inferred_by = ["introduce_transfers"]}
// LATER: %[[G:.*]] = mpmd.fragment<mesh="m2", origin=["g"]>
// LATER: %[[BACK:.*]] = mpmd.transfer %[[G]] : {{.*}} -> !mpmd.mesh_tensor<"m1"
// LATER-NEXT: return %[[BACK]]
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.named_computation<"f"> (%a, %a) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %3 = stablehlo.add %x, %y : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = call @double(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = mpmd.named_computation<"g"> (%1) (%x: tensor<8xf32>) {
    %3 = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @double(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
