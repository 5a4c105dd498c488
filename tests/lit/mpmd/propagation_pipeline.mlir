// Shardings of a program's borders go all the way through fragments and transfers, into types.
// RUN: mpmd_opt %s -mpmd-sharding-propagation-pipeline | FileCheck %s --implicit-check-not=sdy.sharding

sdy.mesh @mesh = <["x"=2]>
!on1 = !mpmd.mesh_tensor<"m1", tensor<8x4xf32>>
!on2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>

// CHECK: @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<8x4xf32>, sharding=<@mesh, [{"x"}, {}]>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<8x4xf32>, sharding=<@mesh, [{}, {}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
func.func @main(%a: !on1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %unused: !on1) -> !on2
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg2: tensor<8x4xf32>) {
  // CHECK-NEXT: %[[NEG:.*]] = stablehlo.negate %arg2
  // CHECK-NEXT: mpmd.return %[[NEG]] : tensor<8x4xf32>
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %unused) (%b: tensor<8x4xf32>, %c: tensor<8x4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<8x4xf32>
    %3 = stablehlo.add %zero, %b : tensor<8x4xf32>
    %4 = stablehlo.negate %3 : tensor<8x4xf32>
    mpmd.return %4, %c : tensor<8x4xf32>, tensor<8x4xf32>
  } : (!on1, !on1) -> (!on1, !on1)
  // CHECK: mpmd.transfer %[[F]] : {{.*}} -> !mpmd.mesh_tensor<"m2", tensor<8x4xf32>, sharding=<@mesh, [{"x"}, {}]>>
  %1 = mpmd.transfer %0#0 : (!on1) -> !mpmd.mesh_tensor<"m2", tensor<8x4xf32>>
  // CHECK: mpmd.fragment<mesh="m2", origin=["g"]>
  %2 = mpmd.fragment<mesh="m2", origin=["g"]> (%1) (%b: tensor<8x4xf32>) {
    %3 = stablehlo.transpose %b, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    mpmd.return %3 : tensor<4x8xf32>
  } : (!mpmd.mesh_tensor<"m2", tensor<8x4xf32>>) -> !on2
  return %2 : !on2
}
