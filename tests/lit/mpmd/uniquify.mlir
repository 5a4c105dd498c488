// Each result is a value of its own: by one fragment a mesh, or by transfers.
// RUN: mpmd_opt %s -mpmd-uniquify-function-inputs-outputs | FileCheck %s
// RUN: mpmd_opt %s -mpmd-uniquify-function-inputs-outputs=use-transfer-instead-of-fragment | FileCheck %s --check-prefix=MOVE

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8xf32>>

// CHECK-LABEL: func.func @f
// CHECK: %[[T:.*]] = mpmd.transfer %arg0
// CHECK-NEXT: %[[M:.*]]:2 = mpmd.fragment<mesh="m", origin=[]> (%arg0, %arg1) {mpmd.inferred_by = ["uniquify"]}
// CHECK-NEXT: mpmd.return %arg2, %arg3
// CHECK: %[[N:.*]]:2 = mpmd.fragment<mesh="n", origin=[]> (%[[T]])
// CHECK-NEXT: mpmd.return %arg2, %arg2
// CHECK: return %[[M]]#0, %[[N]]#0, %[[N]]#1, %[[M]]#1
// MOVE: %[[T:.*]] = mpmd.transfer %arg0
// MOVE-NEXT: %[[A:.*]] = mpmd.transfer %arg0 : (!mpmd.mesh_tensor<"m", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m", tensor<8xf32>>
// MOVE-NEXT: %[[U:.*]] = mpmd.transfer %[[T]]
// MOVE-NEXT: %[[B:.*]] = mpmd.transfer %arg1
// MOVE-NEXT: return %[[A]], %[[T]], %[[U]], %[[B]]
func.func @f(%a: !m, %b: !m) -> (!m, !n, !n, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m) -> !n
  return %a, %0, %0, %b : !m, !n, !n, !m
}
