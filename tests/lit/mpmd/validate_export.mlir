// What a program to be exported should not have.
// RUN: split-file %s %t
// RUN: mpmd_opt %t/backward.mlir -mpmd-validate-no-backward-deps -verify-diagnostics
// RUN: mpmd_opt %t/gradients.mlir -mpmd-validate-no-backward-deps
// RUN: not mpmd_opt %t/gradients.mlir -mpmd-validate-no-backward-deps=fail-on-backward-deps=true 2>&1 | FileCheck %s --check-prefix=GRADIENTS
// RUN: mpmd_opt %t/param.mlir -mpmd-validate-no-param-transfers=param-pattern=weights -verify-diagnostics
// RUN: mpmd_opt %t/param.mlir -mpmd-validate-no-param-transfers 2>&1 | FileCheck %s --check-prefix=PARAM
// RUN: mpmd_opt %t/reshard.mlir -mpmd-validate-no-reshards=fail-on-reshard-only-fragments=true -verify-diagnostics
// RUN: mpmd_opt %t/inferred.mlir -mpmd-validate-no-inferred-fragments -verify-diagnostics

// GRADIENTS: error: Expected forward-only program but found non-forward fragments.
// PARAM-NOT: warning

//--- backward.mlir
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
!m10 = !mpmd.mesh_tensor<"m10", tensor<8xf32>>
#t = #mpmd.topology<<"m2": <["x"=2]>>, <"m10": <["x"=2]>>>
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<8xf32>
}
func.func @main(%a: !m2) -> !m2 attributes {topology = #t} {
  %0 = mpmd.fragment_call<mesh="m2", origin=["f"]> @f(%a) : (!m2) -> !m2
  %1 = mpmd.transfer %0 : (!m2) -> !m10
  %2 = mpmd.fragment_call<mesh="m10", origin=["f"]> @f(%1) : (!m10) -> !m10
  %3 = mpmd.transfer %2 : (!m10) -> !m10
  %4 = mpmd.transfer %3 : (!m10) -> !m2
  // expected-warning@+1 {{Detected backward dependency but expected forward-only pipeline since there are no transpose fragments: fragment "f" mesh="m10" produces a value consumed by fragment "f" mesh="m2". In a forward-only pipeline, dependencies must go from earlier meshes to later meshes.}}
  %5 = mpmd.fragment_call<mesh="m2", origin=["f"]> @f(%4) : (!m2) -> !m2
  return %5 : !m2
}

//--- gradients.mlir
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<8xf32>
}
func.func @main(%a: !m2) -> !m1 attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m2", origin=["f"]> @f(%a) : (!m2) -> !m2
  %1 = mpmd.transfer %0 : (!m2) -> !m1
  %2 = mpmd.fragment_call<mesh="m1", origin=["f"(1)]> @f(%1) : (!m1) -> !m1
  return %2 : !m1
}

//--- param.mlir
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
func.func @main(%a: !m1 loc("weights[0]"), %b: !m1 loc("x")) -> (!m2, !m1, !m2) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-warning@+1 {{Detected cross-mesh transfer of a parameter matching "weights" from mesh "m1" to "m2". JAX locations: ["weights[0]"]}}
  %0 = mpmd.transfer %a : (!m1) -> !m2
  %1 = mpmd.transfer %a : (!m1) -> !m1
  %2 = mpmd.transfer %b : (!m1) -> !m2
  return %0, %1, %2 : !m2, !m1, !m2
}

//--- reshard.mlir
!m = !mpmd.mesh_tensor<"m", tensor<8x?xf32>>
!cut = !mpmd.mesh_tensor<"m", tensor<8x?xf32>, sharding=<@mesh, [{"x"}, {}]>>
!s = !mpmd.mesh_tensor<"m", tensor<i1>>
func.func @f(%a: tensor<8x?xf32>, %b: tensor<i1>) -> tensor<8x?xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<8x?xf32>
}
func.func @main(%a: !m loc("x"), %b: !s loc("y")) -> (!cut, !cut {jax.result_info = "r"}) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{Detected reshard-only fragment 'f'. This usually indicates an unexpected reshard. Operands: Replicated <8x-9223372036854775808xf32> loc("x"), Replicated <xi1> loc("y"). Results: #sdy.sharding<@mesh, [{"x"}, {}]> <8x-9223372036854775808xf32> loc("r")}}
  %0 = mpmd.fragment_call<mesh="m", origin=[]> @f(%a, %b) : (!m, !s) -> !cut
  // expected-error@+1 {{Internal error: reshard-only fragment 'f' is not an inferred fragment}}
  %1 = mpmd.fragment_call<mesh="m", origin=["f"]> @f(%a, %b) : (!m, !s) -> !cut
  return %1, %0 : !cut, !cut
}

//--- inferred.mlir
!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{Internal error: inferred fragment missing 'mpmd.inferred_by' attribute}}
  %0 = mpmd.fragment<mesh="m", origin=[]> (%a) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  // expected-error@+1 {{Inferred fragment has not been merged (inferred by a, b)}}
  %1 = mpmd.fragment<mesh="m", origin=[]> (%0) {mpmd.inferred_by = ["a", "b"]} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  // expected-warning@+1 {{Inferred fragment has not been merged (inferred by a, uniquify)}}
  %2 = mpmd.fragment<mesh="m", origin=[]> (%1) {mpmd.inferred_by = ["a", "uniquify"]} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %2 : !m
}
