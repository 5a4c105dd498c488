// Ops without a mesh go into the one fragment that uses them, into copies in several, or into
// fragments of their own; constants are always copied.
// RUN: mpmd_opt %s -mpmd-infer-mesh-rewrite-using-analysis | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: mpmd_opt %s -mpmd-infer-mesh-rewrite-using-analysis='max-clones=2' | FileCheck %s --check-prefixes=CHECK,TWO

!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @single
// CHECK-NEXT: %0 = mpmd.assign %arg0
// CHECK-NEXT: %1 = mpmd.fragment<mesh="m1", origin=["f"]> (%0) (%arg1: tensor<8xf32>) {
// CHECK-NEXT:   %2 = stablehlo.sine %arg1
// CHECK-NEXT:   %3 = stablehlo.cosine %2
// CHECK-NEXT:   mpmd.return %3
func.func @single(%a: tensor<8xf32>) -> !m1 attributes {topology = #topology} {
  %0 = stablehlo.sine %a : tensor<8xf32>
  %1 = mpmd.assign %0 : (tensor<8xf32>) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%1) (%x: tensor<8xf32>) {
    %3 = stablehlo.cosine %x : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (!m1) -> !m1
  return %2 : !m1
}

// CHECK-LABEL: func.func @several
// ONE: mpmd.fragment<mesh="m1", origin=[]> {{.*}}mpmd.inferred_by = ["infer_mesh_wrap_meshless_ops"]
// ONE-NEXT: stablehlo.add
// ONE: mpmd.unassign
// TWO-NOT: mpmd.unassign
// CHECK: mpmd.fragment<mesh="m1", origin=["f"]>
// TWO-NEXT: stablehlo.add
// CHECK: stablehlo.cosine
// CHECK: mpmd.fragment<mesh="m1", origin=["g"]>
// TWO-NEXT: stablehlo.add
// CHECK: stablehlo.negate
func.func @several(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (!m1, !m1) attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  %1 = mpmd.assign %0 : (tensor<8xf32>) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%1) (%x: tensor<8xf32>) {
    %3 = stablehlo.cosine %x : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (!m1) -> !m1
  %4 = mpmd.fragment<mesh="m1", origin=["g"]> (%1) (%x: tensor<8xf32>) {
    %5 = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %5 : tensor<8xf32>
  } : (!m1) -> !m1
  return %2, %4 : !m1, !m1
}

// An argument that is needed on two meshes is taken twice.
// CHECK-LABEL: func.func @call
// CHECK-SAME: %arg0: tensor<8xf32>)
// CHECK: mpmd.call @callee(%{{.*}}, %{{.*}}) : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>, !mpmd.mesh_tensor<"m2", tensor<8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<8xf32>>, !mpmd.mesh_tensor<"m2", tensor<8xf32>>)
func.func @call(%a: tensor<8xf32>) -> (!m1, !mpmd.mesh_tensor<"m2", tensor<8xf32>>) attributes {topology = #topology} {
  %0 = mpmd.call @callee(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.assign %0 : (tensor<8xf32>) -> !m1
  %2 = mpmd.assign %0 : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m2", tensor<8xf32>>
  return %1, %2 : !m1, !mpmd.mesh_tensor<"m2", tensor<8xf32>>
}
// CHECK-LABEL: func.func private @callee
// CHECK-SAME: %arg0: !mpmd.mesh_tensor<"m1", tensor<8xf32>> {mpmd.copies = array<i64: 1>}
// CHECK-SAME: %arg1: !mpmd.mesh_tensor<"m2", tensor<8xf32>>
func.func private @callee(%a: tensor<8xf32>) -> (tensor<8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1", "m2">}) attributes {topology = #topology} {
  %0 = stablehlo.sine %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
