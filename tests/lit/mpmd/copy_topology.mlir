// Functions that mpmd.call names get the caller's topology, and are private.
// RUN: mpmd_opt %s -mpmd-copy-topology-from-main | FileCheck %s

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK: func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m" : <["x"=2]>>>}
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// CHECK: func.func @g(%arg0: tensor<8xf32>) -> tensor<8xf32> {
func.func @g(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
