// What goes from mesh to mesh is transferred, one mesh after the other; constants stay where they
// are, and two of a kind stay two.
// RUN: not mpmd_opt %s -mpmd-infer-mesh-finalize -split-input-file 2>/dev/null | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-infer-mesh-finalize='infer-transfers=1' -split-input-file 2>&1 | FileCheck %s --check-prefix=ERROR

!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%arg0: !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
// CHECK-NEXT: %0 = mpmd.transfer %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m2", tensor<8xf32>>
// CHECK-NEXT: %1 = mpmd.transfer %0 : {{.*}} -> !mpmd.mesh_tensor<"m3", tensor<8xf32>>
// CHECK-NEXT: return %1, %arg0, %0
func.func @chain(%a: tensor<8xf32>) -> (!m3, !m1, !m2) attributes {topology = #topology} {
  %0 = mpmd.assign %a : (tensor<8xf32>) -> !m3
  %1 = mpmd.assign %a : (tensor<8xf32>) -> !m1
  %2 = mpmd.assign %a : (tensor<8xf32>) -> !m2
  return %0, %1, %2 : !m3, !m1, !m2
}

// CHECK-LABEL: func.func @reduce
// CHECK-NEXT: %0 = mpmd.transfer %arg1 : {{.*}} -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
// CHECK-NEXT: %1 = mpmd.fragment<mesh="m1", origin=[]> (%arg0, %0) {mpmd.inferred_by = ["infer_mesh_convert_reduce_ops"]}
// CHECK-NEXT: stablehlo.multiply %arg2, %arg3
// CHECK: return %1
func.func @reduce(%a: !m1, %b: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign %b : (!m2) -> tensor<8xf32>
  %1 = mpmd.unassign %a : (!m1) -> tensor<8xf32>
  %2 = mpmd.reduce<mul> {mpmd.use_set = #mpmd.meshes_with_origins<"m1">} %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = mpmd.assign %2 : (tensor<8xf32>) -> !m1
  return %3 : !m1
}

// CHECK-LABEL: func.func @constants
// CHECK: stablehlo.sine
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: stablehlo.add
func.func @constants(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=[]> (%a) (%x: tensor<8xf32>) {
    %1 = stablehlo.sine %x : tensor<8xf32>
    %2 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %3 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %4 = stablehlo.add %2, %3 : tensor<8xf32>
    %5 = stablehlo.add %1, %4 : tensor<8xf32>
    mpmd.return %5 : tensor<8xf32>
  } : (!m1) -> !m1
  return %0 : !m1
}

// -----

// ERROR: error: no more meshless ops are expected at this point.
// ERROR: error: Argument 0 has different memory kinds assigned to it.
func.func @meshless(%a: !mpmd.mesh_tensor<"m1", tensor<8xf32>>) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.unassign %a : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @f(%0) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @kinds(%a: tensor<8xf32>) -> (!mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="device">, !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="pinned_host">) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.assign %a : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="device">
  %1 = mpmd.assign %a : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="pinned_host">
  return %0, %1 : !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="device">, !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="pinned_host">
}
