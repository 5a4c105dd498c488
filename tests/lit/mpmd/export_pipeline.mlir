// From fragments to functions that a runtime compiles, with what it must know of them.
// RUN: mpmd_opt %s -mpmd-export-pipeline=verbose-logging=true 2>&1 | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-export-pipeline='fail-on-param-transfers=true param-transfer-pattern=weights' 2>&1 | FileCheck %s --check-prefix=PARAM

!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>

// PARAM: error: Detected cross-mesh transfer of a parameter matching "weights" from mesh "m1" to "m2". JAX locations: ["weights"]

// CHECK: remark: - p1_g_call3.main from program with origins [g], call counter 3.

// CHECK-LABEL: func.func @main
func.func @main(%a: !m1 {jax.buffer_donor = true}, %w: !m1 loc("weights")) -> (!m2, !m2) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // One result of three is needed, once, and one of its arguments.
  // CHECK-NEXT: %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @p0_f.main(%arg0) : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  %0:3 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %w) (%x: tensor<8xf32>, %u: tensor<8xf32>) {
    %1 = stablehlo.negate %x : tensor<8xf32>
    %2 = stablehlo.cosine %u : tensor<8xf32>
    mpmd.return %1, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (!m1, !m1) -> (!m1, !m1, !m1)
  %1 = mpmd.transfer %0#0 : (!m1) -> !m2
  %2 = mpmd.transfer %w : (!m1) -> !m2
  // What is returned twice is two results.
  // CHECK: %[[G:.*]]:2 = mpmd.fragment_call<mesh="m2", origin=["g"]> @p1_g_call3.main(
  // CHECK-NEXT: return %[[G]]#0, %[[G]]#1
  %3 = mpmd.fragment<mesh="m2", origin=["g"]> (%1, %2) {call_counter = 3 : ui32} (%x: tensor<8xf32>, %u: tensor<8xf32>) {
    %4 = stablehlo.add %x, %u : tensor<8xf32>
    mpmd.return %4 : tensor<8xf32>
  } : (!m2, !m2) -> !m2
  return %3, %3 : !m2, !m2
}
// %w stays while @p0_f.main runs.
// CHECK: func.func @p0_f.main(%arg0: tensor<8xf32> {jax.buffer_donor = true}) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 32 : i64}
// CHECK: func.func @p1_g_call3.main(%arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<8xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %0 = stablehlo.add
// CHECK-NEXT: return %0, %0
