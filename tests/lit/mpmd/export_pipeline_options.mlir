// What Shardy's C++ callers may ask of the export besides: constants where they are used, and
// scalars that go the same way as one tensor.
// RUN: mpmd_opt %s -mpmd-export-pipeline | FileCheck %s --check-prefix=NEITHER
// RUN: mpmd_opt %s -mpmd-export-pipeline=copy-constants=true | FileCheck %s --check-prefix=COPY
// RUN: mpmd_opt %s -mpmd-export-pipeline=merge-transfers=true | FileCheck %s --check-prefix=MERGE

!m1 = !mpmd.mesh_tensor<"m1", tensor<f32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<f32>>

// NEITHER-COUNT-3: mpmd.transfer
// NEITHER: fragment_call<mesh="m2"
// COPY-COUNT-2: mpmd.transfer
// COPY-NOT: mpmd.transfer
// COPY: fragment_call<mesh="m2"
// COPY: stablehlo.constant dense<3.0
// MERGE: mpmd.transfer {{.*}}tensor<3xf32>
// MERGE-NOT: mpmd.transfer
// MERGE: fragment_call<mesh="m2"
func.func @main(%a: !m1) -> !m2 attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0:3 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: tensor<f32>) {
    %1 = stablehlo.constant dense<3.0> : tensor<f32>
    %2 = stablehlo.negate %x : tensor<f32>
    %3 = stablehlo.cosine %x : tensor<f32>
    mpmd.return %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>
  } : (!m1) -> (!m1, !m1, !m1)
  %1 = mpmd.transfer %0#0 : (!m1) -> !m2
  %2 = mpmd.transfer %0#1 : (!m1) -> !m2
  %3 = mpmd.transfer %0#2 : (!m1) -> !m2
  %4 = mpmd.fragment<mesh="m2", origin=["g"]> (%1, %2, %3) (%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>) {
    %5 = stablehlo.add %x, %y : tensor<f32>
    %6 = stablehlo.add %5, %z : tensor<f32>
    mpmd.return %6 : tensor<f32>
  } : (!m2, !m2, !m2) -> !m2
  return %4 : !m2
}
