// A transfer has the same factors on both meshes.
// RUN: mpmd_opt %s -sdy-populate-op-sharding-rules | mpmd_opt | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>

// CHECK: mpmd.transfer {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>} %arg0
func.func @main(%a: !m1) -> !m2 attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m1) -> !m2
  return %0 : !m2
}
