// Scalars that one fragment sends to another go together.
// RUN: mpmd_opt %s -mpmd-merge-transfers | FileCheck %s

!m = !mpmd.mesh_tensor<"m", tensor<i32>>
!n = !mpmd.mesh_tensor<"n", tensor<i32>>
!m2 = !mpmd.mesh_tensor<"m", tensor<2xi32>>
!n2 = !mpmd.mesh_tensor<"n", tensor<2xi32>>

// CHECK-LABEL: func.func @scalars
// CHECK: %0:4 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0, %arg1) {call_counter = 1 : ui32}
// CHECK-NEXT: %[[A:.*]] = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 0
// CHECK-NEXT: mpmd.return %arg2, %arg2, %arg3, %[[C]]
// CHECK: %1 = mpmd.transfer {concat_transfer} %0#3 : (!mpmd.mesh_tensor<"m", tensor<2xi32>>) -> !mpmd.mesh_tensor<"n", tensor<2xi32>>
// CHECK: origin=["g"]> (%2, %3, %4, %1) (%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<2xi32>, %arg5: tensor<2xi32>)
// CHECK-NEXT: %[[S:.*]] = stablehlo.slice %arg5 [0:1]
// CHECK-NEXT: %[[X:.*]] = stablehlo.reshape %[[S]] : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %[[S:.*]] = stablehlo.slice %arg5 [1:2]
// CHECK-NEXT: %[[Y:.*]] = stablehlo.reshape %[[S]]
// CHECK-NEXT: stablehlo.subtract %[[X]], %[[Y]]
func.func @scalars(%a: !m, %b: !m2) -> !n attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0:3 = mpmd.fragment<mesh="m", origin=["f"]> (%a, %b) {call_counter = 1 : ui32} (%x: tensor<i32>, %y: tensor<2xi32>) {
    mpmd.return %x, %x, %y : tensor<i32>, tensor<i32>, tensor<2xi32>
  } : (!m, !m2) -> (!m, !m, !m2)
  %1 = mpmd.transfer %0#0 : (!m) -> !n
  %2 = mpmd.transfer %0#1 : (!m) -> !n
  %3 = mpmd.transfer %0#2 : (!m2) -> !n2
  %4 = mpmd.fragment<mesh="n", origin=["g"]> (%1, %2, %3) (%x: tensor<i32>, %y: tensor<i32>, %z: tensor<2xi32>) {
    %d = stablehlo.subtract %x, %y : tensor<i32>
    mpmd.return %d : tensor<i32>
  } : (!n, !n, !n2) -> !n
  return %4 : !n
}

// One alone is not worth it.
// CHECK-LABEL: func.func @one
// CHECK-NOT: concat_transfer
func.func @one(%a: !m) -> !n attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<i32>) {
    mpmd.return %x : tensor<i32>
  } : (!m) -> !m
  %1 = mpmd.transfer %0 : (!m) -> !n
  %2 = mpmd.fragment<mesh="n", origin=["g"]> (%1) (%x: tensor<i32>) {
    mpmd.return %x : tensor<i32>
  } : (!n) -> !n
  return %2 : !n
}
