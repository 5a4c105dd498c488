// Inferred fragments are merged with the closest user, with any, or with their neighbour.
// RUN: mpmd_opt %s -mpmd-merge-inferred-fragments | FileCheck %s
// RUN: mpmd_opt %s -mpmd-merge-inferred-fragments=merge-any-consumer=true | FileCheck --check-prefix=ANY %s
// RUN: mpmd_opt %s -mpmd-merge-inferred-fragments=merge-sideways=true | FileCheck --check-prefix=SIDE %s
// RUN: not mpmd_opt %s -mpmd-merge-inferred-fragments="merge-sideways=true merge-any-consumer=true" 2>&1 | FileCheck --check-prefix=BOTH %s

// BOTH: error: merge-sideways cannot be used with merge-any-consumer

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// Equal operands are one, and what only the consumer uses is no result.
// CHECK-LABEL: func.func @operands
// CHECK-NEXT: %0:2 = mpmd.fragment<mesh="m", origin=["f"], stage=1> (%arg0, %arg1) {call_counter = 3 : ui32} (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
// CHECK-NEXT:   %1 = stablehlo.add %arg2, %arg3
// CHECK-NEXT:   %2 = stablehlo.subtract %arg2, %arg2
// CHECK-NEXT:   %3 = stablehlo.multiply %1, %arg3
// CHECK-NEXT:   mpmd.return %2, %3
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m", tensor<8xf32>>, !mpmd.mesh_tensor<"m", tensor<8xf32>>) -> (!mpmd.mesh_tensor<"m", tensor<8xf32>>, !mpmd.mesh_tensor<"m", tensor<8xf32>>)
// CHECK-NEXT: return %0#1, %0#0
func.func @operands(%a: !m, %b: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0:2 = mpmd.fragment<mesh="m", origin=[]> (%a, %b, %a) {call_counter = 7 : ui32} (%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) {
    %s = stablehlo.add %x, %y : tensor<8xf32>
    %d = stablehlo.subtract %x, %z : tensor<8xf32>
    mpmd.return %s, %d : tensor<8xf32>, tensor<8xf32>
  } : (!m, !m, !m) -> (!m, !m)
  %1 = mpmd.fragment<mesh="m", origin=["f"], stage=1> (%b, %0#0) {call_counter = 3 : ui32} (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %p = stablehlo.multiply %y, %x : tensor<8xf32>
    mpmd.return %p : tensor<8xf32>
  } : (!m, !m) -> !m
  return %1, %0#1 : !m, !m
}

// The closest user of @f is no inferred one; the neighbour of @g is, and @g uses nothing of it.
// CHECK-LABEL: func.func @near
// CHECK-COUNT-4: mpmd.fragment<
// ANY-LABEL: func.func @near
// ANY-NEXT: mpmd.fragment<mesh="m", origin=["f"]> (%arg0)
// ANY-NEXT:   stablehlo.negate
// ANY-NEXT:   stablehlo.cosine
// ANY-NEXT:   return
// ANY: mpmd.fragment<mesh="m", origin=[]> (%arg0)
// ANY-NEXT:   stablehlo.sine
// ANY: origin=["g"]
// SIDE-LABEL: func.func @near
// SIDE-NEXT: mpmd.fragment<mesh="m", origin=["f"]> (%arg0)
// SIDE-NEXT:   stablehlo.negate
// SIDE-NEXT:   return
// SIDE: mpmd.fragment<mesh="m", origin=["g"]> (%arg0, %0)
// SIDE-NEXT:   stablehlo.sine
// SIDE-NEXT:   stablehlo.tanh
// SIDE-NEXT:   stablehlo.cosine
func.func @near(%a: !m) -> (!m, !m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=[]> (%a) (%x: tensor<8xf32>) {
    %y = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["g"]> (%0) (%x: tensor<8xf32>) {
    %y = stablehlo.tanh %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %3 = mpmd.fragment<mesh="m", origin=[]> (%0) (%x: tensor<8xf32>) {
    %y = stablehlo.cosine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  return %1, %2, %3 : !m, !m, !m
}

// Which of the two bodies is the longer one makes no difference.
// CHECK-LABEL: func.func @short_first
// CHECK-NEXT: %0:2 = mpmd.fragment<mesh="m", origin=["f"]> (%arg0, %arg1) (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
// CHECK-NEXT:   %1 = stablehlo.negate %arg2
// CHECK-NEXT:   %2 = stablehlo.sine %arg3
// CHECK-NEXT:   %3 = stablehlo.subtract %2, %1
// CHECK-NEXT:   %4 = stablehlo.add %3, %arg2
// CHECK-NEXT:   mpmd.return %1, %4
// CHECK: return %0#0, %0#1
func.func @short_first(%a: !m, %b: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=[]> (%a) (%x: tensor<8xf32>) {
    %n = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %n : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["f"]> (%b, %0, %a) (%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) {
    %s = stablehlo.sine %x : tensor<8xf32>
    %d = stablehlo.subtract %s, %y : tensor<8xf32>
    %t = stablehlo.add %d, %z : tensor<8xf32>
    mpmd.return %t : tensor<8xf32>
  } : (!m, !m, !m) -> !m
  return %0, %1 : !m, !m
}

// CHECK-LABEL: func.func @long_chain
// CHECK-NEXT: %0 = mpmd.fragment<mesh="m", origin=["f"]> (%arg1, %arg0) (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
// CHECK-NEXT:   %1 = stablehlo.negate %arg3
// CHECK-NEXT:   %2 = stablehlo.cosine %1
// CHECK-NEXT:   %3 = stablehlo.subtract %arg2, %2
// CHECK-NEXT:   mpmd.return %3
func.func @long_chain(%a: !m, %b: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=[]> (%a) (%x: tensor<8xf32>) {
    %n = stablehlo.negate %x : tensor<8xf32>
    %c = stablehlo.cosine %n : tensor<8xf32>
    mpmd.return %c : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["f"]> (%b, %0) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    %d = stablehlo.subtract %x, %y : tensor<8xf32>
    mpmd.return %d : tensor<8xf32>
  } : (!m, !m) -> !m
  return %1 : !m
}
