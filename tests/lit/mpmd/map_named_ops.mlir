// Named computations become fragments, named tensors are put on their meshes and taken off again.
// RUN: mpmd_opt %s -mpmd-map-named-ops-to-mpmd-ops='assignment=t@m2#pinned_host,f@m1/3' | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-map-named-ops-to-mpmd-ops=assignment=t@m2 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mpmd_opt %s -mpmd-map-named-ops-to-mpmd-ops=assignment=f@m3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mpmd_opt %s -mpmd-map-named-ops-to-mpmd-ops=assignment=f 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not mpmd_opt %s -mpmd-map-named-ops-to-mpmd-ops=assignment=f@m1/x 2>&1 | FileCheck %s --check-prefix=STAGE
// NONE: :[[@LINE+17]]:8: error: Top-level NamedComputation 'f' is not assigned to a mesh in the user-defined named-to-mesh assignment.
// UNKNOWN: :[[@LINE+16]]:8: error: mesh 'm3' is not in the topology
// TEXT: error: Assignment must contain '@' denoting a name assigned to a mesh (and stage), got: f
// STAGE: error: Failed to parse stage number: x

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK: %[[ON:.*]] = mpmd.assign {origin = "t"} %arg0 : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m2", tensor<8xf32>, memory_kind="pinned_host">
  // CHECK-NEXT: %[[OFF:.*]] = mpmd.unassign {origin = "t"} %[[ON]]
  // CHECK-NEXT: %[[IN:.*]] = mpmd.assign {origin = "f"} %[[OFF]] : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1)], stage=3> (%[[IN]], %[[IN]])
  // CHECK-NEXT: stablehlo.add
  // CHECK: %[[OUT:.*]] = mpmd.unassign {origin = "f"} %[[F]]
  // CHECK-NEXT: return %[[OUT]]
  %0 = mpmd.named_tensor %a name="nobody" : tensor<8xf32>
  %1 = mpmd.named_tensor %0 name="t" : tensor<8xf32>

  // one line for each message above
  %2 = mpmd.named_computation<"f"(1)> (%1, %1) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %3 = stablehlo.add %x, %y : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
