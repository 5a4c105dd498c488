// Constraints become reshards, also those that no device could run: a sharding of a token.
// RUN: terrazzo opt %s -sdy-sharding-constraint-to-reshard | FileCheck %s

sdy.mesh @mesh = <["a"=2]>
func.func @main(%arg0: tensor<8xf32>, %arg1: !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token) {
  // CHECK:      sdy.reshard %arg0 <@mesh, [{"a", ?}]> {note} : tensor<8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a", ?}]> {note} : tensor<8xf32>
  // CHECK-NEXT: sdy.reshard %arg1 <@mesh, []> : !stablehlo.token
  %1 = sdy.sharding_constraint %arg1 <@mesh, []> : !stablehlo.token
  return %0, %1 : tensor<8xf32>, !stablehlo.token
}
