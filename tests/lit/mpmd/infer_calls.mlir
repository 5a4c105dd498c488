// Calls that give or take less, or more, than their function: as Shardy, the verifier compares what
// is there; mesh inference looks at no more than that, and refuses to rewrite them.
// RUN: mpmd_opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-populate-src-set | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-infer-mesh-pipeline 2>&1 | FileCheck %s --check-prefix=REWRITE
// RUN: not mpmd_opt %s -mpmd-infer-mesh-pipeline=infer-transfers=true 2>&1 | FileCheck %s --check-prefix=REWRITE
// REWRITE: 'mpmd.call' op has no operand on a mesh for each argument of the function

#topology = #mpmd.topology<<"m1": <["x"=2]>>>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8xf32> {mpmd.src_set = {{.*}}"m1"
func.func @main(%a: tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>> attributes {topology = #topology} {
  %0:2 = mpmd.call @callee(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1 = stablehlo.add %0#0, %0#1 : tensor<8xf32>
  %2 = mpmd.assign %1 : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  return %2 : !mpmd.mesh_tensor<"m1", tensor<8xf32>>
}

// CHECK-LABEL: func.func private @callee
// CHECK: stablehlo.multiply %arg0, %arg1 {{{.*}}mpmd.use_set = #mpmd.meshes_with_origins<"m1">}
func.func private @callee(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.multiply %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}
