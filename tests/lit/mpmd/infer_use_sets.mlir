// Use sets come from mpmd.assign, back through ops, calls and loops.
// RUN: mpmd_opt %s -mpmd-infer-mesh-populate-use-set | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @ops
// CHECK-SAME: %arg0: tensor<8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["b"], "m1"["a"]>}
// CHECK-SAME: %arg1: tensor<8xf32>)
// CHECK: stablehlo.sine %arg0 {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["b"], "m1"["a"]>}
// CHECK: stablehlo.cosine %0 {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["b"]>}
// CHECK: stablehlo.negate %arg1 : tensor<8xf32>
func.func @ops(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (!m1, !m2, tensor<8xf32>) attributes {topology = #topology} {
  %0 = stablehlo.sine %a : tensor<8xf32>
  %1 = mpmd.assign {origin = "a"} %0 : (tensor<8xf32>) -> !m1
  %2 = stablehlo.cosine %0 : tensor<8xf32>
  %3 = mpmd.assign {origin = "b"} %2 : (tensor<8xf32>) -> !m2
  %4 = stablehlo.negate %b : tensor<8xf32>
  return %1, %3, %4 : !m1, !m2, tensor<8xf32>
}

// CHECK-LABEL: func.func @calls
// CHECK-SAME: %arg0: tensor<8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1">}
func.func @calls(%a: tensor<8xf32>) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.call @callee(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.assign %0 : (tensor<8xf32>) -> !m1
  return %1 : !m1
}

// CHECK-LABEL: func.func private @callee
// CHECK-SAME: %arg0: tensor<8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1">}
// CHECK-SAME: -> (tensor<8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m1">})
// CHECK: stablehlo.sine %arg0 {mpmd.use_set = #mpmd.meshes_with_origins<"m1">}
func.func private @callee(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.sine %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
