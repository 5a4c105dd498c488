// An edge of data flow is on whatever has a shape, on a mesh or not, and on nothing else.
// RUN: not mpmd_opt %s -split-input-file 2>/dev/null | FileCheck %s
// RUN: not mpmd_opt %s -split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=ERROR

// CHECK: func.func @mesh_tensor
func.func @mesh_tensor(%a: !mpmd.mesh_tensor<"m", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m", tensor<8xf32>>
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = sdy.data_flow_edge %a : !mpmd.mesh_tensor<"m", tensor<8xf32>>
  return %0 : !mpmd.mesh_tensor<"m", tensor<8xf32>>
}

// -----

// ERROR: error: 'sdy.data_flow_edge' op expected sdy.data_flow_edge to have a static-shaped result. type: 'tensor<?xf32>'
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = sdy.data_flow_edge %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// ERROR: error: 'sdy.data_flow_edge' op operand #0 must be shaped of any type values, but got '!stablehlo.token'
func.func @token(%a: !stablehlo.token) -> !stablehlo.token {
  %0 = sdy.data_flow_edge %a : !stablehlo.token
  return %0 : !stablehlo.token
}
