// Fragments keep operands that they use and results that are used, each once, and their attributes.
// RUN: mpmd_opt %s -mpmd-simplify-program | FileCheck %s

!on1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: @main
func.func @main(%a: !on1, %b: !on1) -> (!on1, !on1, !on1) attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["x"=2, "y"=4]>>>} {
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"], stage=1, in_shardings=[<@mesh, [{"y"}]>]> (%arg1) {mark} (%arg2: tensor<8xf32>) {
  // CHECK-NEXT: %[[V:.*]] = stablehlo.negate %arg2
  // CHECK-NEXT: mpmd.return %[[V]] : tensor<8xf32>
  // CHECK: return %[[F]], %[[F]], %arg0
  %0:4 = mpmd.fragment<mesh="m1", origin=["f"], stage=1, in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>]> (%a, %b) {mark}
      (%c: tensor<8xf32>, %d: tensor<8xf32>) {
    %1 = stablehlo.negate %d : tensor<8xf32>
    %2 = stablehlo.add %c, %d : tensor<8xf32>
    mpmd.return %1, %1, %c, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (!on1, !on1) -> (!on1, !on1, !on1, !on1)
  return %0#0, %0#1, %0#2 : !on1, !on1, !on1
}
