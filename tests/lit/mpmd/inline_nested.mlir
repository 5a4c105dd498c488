// What the user named inside of a named computation goes into it, if it is on the same mesh.
// RUN: mpmd_opt %s -mpmd-inline-nested-user-exposed-ops=assignment=f@m1,g@m1 | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-inline-nested-user-exposed-ops=assignment=f@m1,t@m2 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not mpmd_opt %s -mpmd-inline-nested-user-exposed-ops=assignment=f@m1/0,g@m1/1 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not mpmd_opt %s -mpmd-inline-nested-user-exposed-ops=assignment=g@m1 2>&1 | FileCheck %s --check-prefix=NONE
// MESH: error: NamedTensor 't' is nested in a NamedComputation 'f' which has a different mesh assignment.
// STAGE: error: NamedComputation 'g' is nested in a NamedComputation 'f' which has a different mesh or stage assignment.
// NONE: error: Parent NamedComputation 'f' is not assigned to a mesh in the user-defined name-to-mesh assignment.

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK: mpmd.named_computation<"f"> (%arg0) (%arg1: tensor<8xf32>) {
  // CHECK-NEXT: %[[V:.*]] = stablehlo.negate %arg1
  // CHECK-NEXT: mpmd.return %[[V]]
  %0 = mpmd.named_computation<"f"> (%a) (%x: tensor<8xf32>) {
    %1 = mpmd.named_computation<"g"> (%x) (%y: tensor<8xf32>) {
      %2 = mpmd.broadcast %y : tensor<8xf32>
      %3 = stablehlo.negate %2 : tensor<8xf32>
      mpmd.return %3 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %4 = mpmd.named_tensor %1 name="t" : tensor<8xf32>
    mpmd.return %4 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
