// Fragments that are alike become calls of one function, called by what they are.
// RUN: mpmd_opt %s -mpmd-lower-to-fragment-calls=verbose-logging=true 2>&1 | FileCheck %s

// CHECK: remark: Module jit_train on mesh m will execute the following XLA programs:
// CHECK: remark: - p0_block_1:2..._fwd_calls0to1.train from program with origins [block_1(fwd), loss(fwd), block_2(fwd)], call counter 0.
// CHECK: remark: - p0_block_1:2..._fwd_calls0to1.train from program {{.*}}, call counter 1.
// CHECK: remark: - p1_block_2:1_bwd.train from program with origins [block_2(bwd), block_1(bwd)].
// CHECK: remark: - p2_stage3_bwd_transpose3_call7.train from program with origins [a(bwd), b(TransposeCount=3)], stage id 3, call counter 7.
// CHECK: remark: - p4_f_7_fwd.train {{.*}}, call counter 2.
// CHECK: remark: - p4_f_7_fwd.train {{.*}}, call counter 5.
// CHECK: remark: Module jit_train on mesh n will
// CHECK-NEXT: remark: - p3_inferred.train from program with origins [].

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8xf32>, sharding=<@mesh, [{"x"}]>>
// CHECK-LABEL: module @jit_train
module @jit_train {
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%a: !m, %b: !m, %c: !n) -> (!m, !m, !m, !n) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  // CHECK: %0 = mpmd.fragment_call<mesh="m", origin=["block_1", "loss", "block_2"]> @"p0_block_1:2..._fwd_calls0to1.train"(%arg0) : (
  %0 = mpmd.fragment<mesh="m", origin=["block_1", "loss", "block_2"]> (%a) {call_counter = 0 : ui32, reserved_hbm_bytes = 3 : i64} (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  // CHECK: %1 = mpmd.fragment_call<mesh="m", origin=["block_1", "loss", "block_2"]> @"p0_block_1:2..._fwd_calls0to1.train"(%arg1) {remat} : (
  %1 = mpmd.fragment<mesh="m", origin=["block_1", "loss", "block_2"]> (%b) {call_counter = 1 : ui32, remat, reserved_hbm_bytes = 5 : i64} (%z: tensor<8xf32>) {
    %y = stablehlo.negate %z : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  // CHECK: %2 = mpmd.fragment_call<mesh="m", origin=["block_2"(1), "block_1"(1)]> @"p1_block_2:1_bwd.train"
  %2 = mpmd.fragment<mesh="m", origin=["block_2"(1), "block_1"(1)]> (%b) {arg_attrs = [{tf.aliasing_output = 0 : i32}]} (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  // CHECK: mpmd.fragment_call<mesh="m", origin=["a"(1), "b"(3)]> @p2_stage3_bwd_transpose3_call7.train
  %3 = mpmd.fragment<mesh="m", origin=["a"(1), "b"(3)], stage=3> (%b) {call_counter = 7 : ui32} (%x: tensor<8xf32>) {
    %y = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  // CHECK: %4 = mpmd.fragment_call<mesh="n", origin=[]> @p3_inferred.train(%arg2)
  %4 = mpmd.fragment<mesh="n", origin=[]> (%c) (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!n) -> !n
  // Counters that are not those of one loop are not in the name.
  // CHECK: fragment_call<mesh="m", origin=["f_007"]> @p4_f_7_fwd.train(%arg0)
  %5 = mpmd.fragment<mesh="m", origin=["f_007"]> (%a) {call_counter = 2 : ui32} (%x: tensor<8xf32>) {
    %y = stablehlo.cosine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  // CHECK: fragment_call<mesh="m", origin=["f_007"]> @p4_f_7_fwd.train(%5)
  %6 = mpmd.fragment<mesh="m", origin=["f_007"]> (%5) {call_counter = 5 : ui32} (%x: tensor<8xf32>) {
    %y = stablehlo.cosine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  // Names that are as frequent go by their letters.
  // CHECK: @p5_bar..._fwd_bwd.train(%arg2)
  %7 = mpmd.fragment<mesh="n", origin=["foo", "bar"(1)]> (%c) (%x: tensor<8xf32>) {
    %y = stablehlo.cosine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!n) -> !n
  return %0, %1, %2, %4 : !m, !m, !m, !n
}
// Another mesh of that name has a function of its own.
// CHECK-LABEL: func.func @other
func.func @other(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=4]>>>} {
  // CHECK: @p6_g_fwd.train(%arg0)
  %0 = mpmd.fragment<mesh="m", origin=["g"]> (%a) (%x: tensor<8xf32>) {
    %y = stablehlo.cosine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  return %0 : !m
}
}
// CHECK: func.func @"p0_block_1:2..._fwd_calls0to1.train"(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 5 : i64} {
// CHECK-NEXT: %0 = stablehlo.negate %arg0
// CHECK-NEXT: return %0
// CHECK: func.func @"p1_block_2:1_bwd.train"(%arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8xf32>
// CHECK: func.func @p2_stage3_bwd_transpose3_call7.train(%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK: func.func @p3_inferred.train(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK: func.func @p6_g_fwd.train(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=4]>}
