// Shardings of values go, and so do all meshes; an op that still names one is an error then.
// RUN: terrazzo opt %s -sdy-drop-sharding-and-mesh -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-NOT:  sdy
// CHECK:      func.func @main(%arg0: tensor<8xf32> {x.y}) -> tensor<8xf32> {
// CHECK-NEXT:   stablehlo.abs %arg0 : tensor<8xf32>
sdy.mesh @mesh = <["a"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, x.y}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.reshard' op unknown mesh: @mesh}}
  %0 = sdy.reshard %arg0 <@mesh, [{"a"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
