// What is in the memory of the host is so for fragments, too.
// RUN: mpmd_opt %s -mpmd-mark-offloaded-input-output -split-input-file -verify-diagnostics | FileCheck %s

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// CHECK-LABEL: func.func @main
func.func @main(%a: !m {mhlo.memory_kind = "pinned_host"}) -> (!m {mhlo.memory_kind = "pinned_host"}, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: mpmd.fragment{{.*}} {arg_attrs = [{mhlo.memory_kind = "pinned_host"}], res_attrs = [{mhlo.memory_kind = "pinned_host"}, {}]}
  %0:2 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %1 = stablehlo.custom_call @annotate_device_placement(%x) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.reshape %1 : (tensor<8xf32>) -> tensor<1x8x1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x8x1xf32>) -> tensor<8xf32>
    %4 = stablehlo.negate %1 : tensor<8xf32>
    mpmd.return %3, %4 : tensor<8xf32>, tensor<8xf32>
  } : (!m) -> (!m, !m)
  // CHECK: mpmd.fragment{{.*}} {arg_attrs = [{mhlo.memory_kind = "pinned_host"}, {}], res_attrs = [{}]}
  %1 = mpmd.fragment<mesh="m", origin=["g"]> (%0#0, %0#1) (%x: tensor<8xf32>, %y: tensor<8xf32>) {
    mpmd.return %y : tensor<8xf32>
  } : (!m, !m) -> !m
  return %0#0, %1 : !m, !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
// CHECK-LABEL: func.func @through_calls
func.func @through_calls(%a: !m) -> (!m {mhlo.memory_kind = "pinned_host"}) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: mpmd.fragment{{.*}} {arg_attrs = [{}], res_attrs = [{mhlo.memory_kind = "pinned_host"}]}
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %1 = func.call @on_host(%x) : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (!m) -> !m
  return %0 : !m
}
func.func private @on_host(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {mhlo.frontend_attributes = {_xla_compute_type = "host"}} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    // expected-error@+1 {{does not say by '_xla_buffer_placement' where it places}}
    %1 = stablehlo.custom_call @annotate_device_placement(%x) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (!m) -> !m
  return %0 : !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
// expected-error@+1 {{Memory kind mismatch between arg 0 and users: "pinned_host" vs <<NULL ATTRIBUTE>>}}
func.func @main(%a: !m {mhlo.memory_kind = "pinned_host"}) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{Memory kind mismatch between result 0 and defining op: <<NULL ATTRIBUTE>> vs "pinned_host"}}
  return %a : !m
}
