// Every op of mpmd, as it is read and printed; through bytecode too.
// RUN: mpmd_opt %s | FileCheck %s
// RUN: mpmd_opt %s -mlir-print-op-generic | mpmd_opt | FileCheck %s
// RUN: mpmd_opt %s --emit-bytecode | mpmd_opt | FileCheck %s

!whole = !mpmd.mesh_tensor<"m1", tensor<8x4xf32>>
!cut = !mpmd.mesh_tensor<"m2", tensor<8x4xf32>, sharding=<@mesh, [{"x"}, {?}]>, memory_kind="pinned_host">

// CHECK: func.func @main(%arg0: tensor<8x4xf32>, %arg1: !mpmd.mesh_tensor<"m1", tensor<8x4xf32>>)
// CHECK-SAME: -> !mpmd.mesh_tensor<"m2", tensor<8x4xf32>, sharding=<@mesh, [{"x"}, {?}]>, memory_kind="pinned_host">
// CHECK-SAME: attributes {topology = #mpmd.topology<<"m1" : <["x"=2, "y"=2]>>, <"m2" : <["x"=4]>>>}
func.func @main(%a: tensor<8x4xf32>, %b: !whole) -> !cut attributes {
    topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=4]>>>} {
  // CHECK-NEXT: mpmd.named_computation<"f"(1)> (%arg0) (%arg2: tensor<8x4xf32>) {
  // CHECK-NEXT:   mpmd.return %arg2 : tensor<8x4xf32>
  // CHECK-NEXT: } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = mpmd.named_computation<"f"(1)> (%a) (%x: tensor<8x4xf32>) {
    mpmd.return %x : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: mpmd.named_tensor %0 name="t" : tensor<8x4xf32>
  %1 = mpmd.named_tensor %0 name="t" : tensor<8x4xf32>
  // CHECK-NEXT: mpmd.broadcast %1 : tensor<8x4xf32>
  %2 = mpmd.broadcast %1 : tensor<8x4xf32>
  // CHECK-NEXT: mpmd.reduce<max> %2, %2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = mpmd.reduce<max> %2, %2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: mpmd.assign {origin = "f"} %3 : (tensor<8x4xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8x4xf32>>
  %4 = mpmd.assign {origin = "f"} %3 : (tensor<8x4xf32>) -> !whole
  // CHECK-NEXT: mpmd.fragment<mesh="m1", origin=["f", "g"(2)], stage=3, in_shardings=[<@mesh, [{"x"}, {?}]>, <@mesh, [{}, {}]>], out_shardings=[<@mesh, [{?}, {"y"}]>]> (%4, %arg1) {call_counter = 1 : ui32} (%arg2: tensor<8x4xf32>, %arg3: tensor<8x4xf32>) {
  %5 = mpmd.fragment<mesh="m1", origin=["f", "g"(2)], stage=3, in_shardings=[<@mesh, [{"x"}, {?}]>, <@mesh, [{}, {}]>], out_shardings=[<@mesh, [{?}, {"y"}]>]> (%4, %b) {call_counter = 1 : ui32} (%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) {
    %s = stablehlo.add %x, %y : tensor<8x4xf32>
    mpmd.return %s : tensor<8x4xf32>
  } : (!whole, !whole) -> !whole
  // CHECK: mpmd.for (%5) {iterations = 6 : ui32, unroll_factor = 2 : ui32} (%arg2: !mpmd.mesh_tensor<"m1", tensor<8x4xf32>>, %index: tensor<ui32>) {
  %6 = mpmd.for (%5) {iterations = 6 : ui32, unroll_factor = 2 : ui32} (%x: !whole, %i: tensor<ui32>) {
    // CHECK-NEXT: mpmd.call @g(%arg2) {call_counter = 0 : ui32} : (!mpmd.mesh_tensor<"m1", tensor<8x4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8x4xf32>>
    %y = mpmd.call @g(%x) {call_counter = 0 : ui32} : (!whole) -> !whole
    mpmd.return %y : !whole
  } : !whole
  // CHECK: mpmd.fragment_call<mesh="m1", origin=[]> @h(%6) : (!mpmd.mesh_tensor<"m1", tensor<8x4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8x4xf32>>
  %7 = mpmd.fragment_call<mesh="m1", origin=[]> @h(%6) : (!whole) -> !whole
  // CHECK-NEXT: mpmd.unassign %7 : (!mpmd.mesh_tensor<"m1", tensor<8x4xf32>>) -> tensor<8x4xf32>
  %8 = mpmd.unassign %7 : (!whole) -> tensor<8x4xf32>
  // CHECK-NEXT: mpmd.transfer {a = #mpmd.meshes_with_origins<"m1"["f", "g"], "m2">} %7
  %9 = mpmd.transfer {a = #mpmd.meshes_with_origins<"m1"["f", "g"], "m2">} %7 : (!whole) -> !cut
  return %9 : !cut
}

func.func private @g(%a: !whole) -> !whole attributes {
    topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=4]>>>} {
  return %a : !whole
}

func.func private @h(%a: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  return %a : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @by_default
func.func @by_default(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: mpmd.reduce<none> %arg0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = "mpmd.reduce"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
