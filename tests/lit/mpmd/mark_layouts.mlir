// Layouts that the user asks for reach fragments; what several see lies in the usual way.
// RUN: mpmd_opt %s -mpmd-mark-input-output-with-layouts -split-input-file -verify-diagnostics | FileCheck %s
// RUN: mpmd_opt %s -mpmd-mark-input-output-with-layouts -split-input-file -verify-diagnostics -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

!m = !mpmd.mesh_tensor<"m", tensor<8x8xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<8x8xf32>>

// CHECK-LABEL: func.func @main(%arg0: {{.*}} {mhlo.layout_mode = "{0, 1}"}, %arg1: {{[^{]*}}) -> ({{.*}} {mhlo.layout_mode = "{0, 1}"}, {{.*}} {mhlo.layout_mode = "auto"})
func.func @main(%a: !m {mhlo.layout_mode = "{0, 1}"}, %b: !m {mhlo.layout_mode = "auto"}) -> (!n {mhlo.layout_mode = "auto"}, !m {mhlo.layout_mode = "auto"}) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m) -> !n
  // CHECK: mpmd.fragment{{.*}} {arg_attrs = [{mhlo.layout_mode = "{0, 1}"}, {}], res_attrs = [{}, {mhlo.layout_mode = "auto"}]}
  %1:2 = mpmd.fragment<mesh="m", origin=["f"]> (%a, %b) (%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    mpmd.return %x, %y : tensor<8x8xf32>, tensor<8x8xf32>
  } : (!m, !m) -> (!m, !m)
  // CHECK: mpmd.fragment{{.*}} {arg_attrs = [{}, {}], res_attrs = [{mhlo.layout_mode = "auto"}]}
  %2 = mpmd.fragment<mesh="m", origin=["g"]> (%b, %1#0) (%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    mpmd.return %x : tensor<8x8xf32>
  } : (!m, !m) -> !m
  return %0, %2 : !n, !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
func.func @main(%a: !m) -> (!m {mhlo.layout_mode = "{0}"}, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // expected-error@+1 {{Result #1 is also returned as result #0, but with incompatible layouts: <<NULL ATTRIBUTE>> vs. "{0}"}}
  return %a, %a : !m, !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
!cpu = !mpmd.mesh_tensor<"m/cpu", tensor<8xf32>>
// expected-warning@+1 {{Arg #0 is used in a transfer op, but with a non-default layout: "{0}". Forcing the layout to default.}}
func.func @main(%a: !m {mhlo.layout_mode = "{0}"}) -> !cpu attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"m/cpu": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m) -> !cpu
  return %0 : !cpu
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>
// GENERIC: "func.func"() <{function_type = (!mpmd.mesh_tensor<"m", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m", tensor<8xf32>>, sym_name = "nothing_said"}>
func.func @nothing_said(%a: !m {mhlo.layout_mode = "default"}) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  return %a : !m
}
