// What could be reductions across meshes becomes mpmd.reduce: all of it, or what the user marked.
// RUN: mpmd_opt %s -mpmd-infer-mesh-convert-reduce-ops | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: mpmd_opt %s -mpmd-infer-mesh-convert-reduce-ops='infer-cross-mesh-reductions=true' | FileCheck %s --check-prefixes=CHECK,ALL

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @chain
// SOME: stablehlo.add %arg0, %arg1 {mpmd.reduce
// SOME: stablehlo.add %0, %arg2 {mpmd.reduce
// ALL-NEXT: %0 = mpmd.reduce<add> %arg0, %arg1, %arg2
// ALL-NEXT: return %0
func.func @chain(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b {mpmd.reduce = #mpmd.reduction<add>} : tensor<8xf32>
  %1 = stablehlo.add %0, %c {mpmd.reduce = #mpmd.reduction<add>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @marked
// CHECK-NEXT: %0 = mpmd.reduce<max> %arg0, %arg1
// CHECK-NEXT: %1 = stablehlo.negate %0
// CHECK-NEXT: mpmd.reduce<none> %1
func.func @marked(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.maximum %a, %b {mpmd.reduce = #mpmd.reduction<max>} : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = mpmd.reduce<none> %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func.func @concat
// ALL-DAG: %[[A:.*]] = stablehlo.reshape %arg0
// ALL-DAG: %[[B:.*]] = stablehlo.reshape %arg1
// ALL: mpmd.reduce<add> %[[A]], %[[B]] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
// ALL-NOT: stablehlo.concatenate
// SOME: stablehlo.concatenate
// CHECK: return
func.func @concat(%a: tensor<1x8xf32>, %b: tensor<1x8xf32>, %z: tensor<f32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.concatenate %a, %b, dim = 0 {mpmd.reduce = #mpmd.reduction<add>} : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %1 = "stablehlo.reduce"(%0, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {mpmd.reduce = #mpmd.reduction<add>} : (tensor<2x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
