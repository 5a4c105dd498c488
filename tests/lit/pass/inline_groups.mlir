// Functions that call each other, where a body came from, and how much is inlined.
// RUN: terrazzo opt %s -split-input-file -inline -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s
// RUN: terrazzo opt %s -split-input-file -inline=inlining-threshold=0 | FileCheck %s --check-prefix=NONE
// RUN: terrazzo opt %s -split-input-file -inline=inlining-threshold=60 | FileCheck %s --check-prefix=SOME
// RUN: terrazzo opt %s -split-input-file --inline='default-pipeline= op-pipelines=func.func(cse)' | FileCheck %s --check-prefix=CSE
// RUN: not terrazzo opt %s -split-input-file --pass-pipeline='builtin.module(func.func(inline))' 2>&1 | FileCheck %s --check-prefix=FUNC
// RUN: not terrazzo opt %s -split-input-file -terrazzo-inline-all 2>&1 | FileCheck %s --check-prefix=ALL

// FUNC: error: 'func.func' op  was scheduled to run under the inliner, but does not define a symbol table

// Callers come at the end of a chain of calls; a call without a place leaves places alone.
// CHECK-LABEL: func @places
// CHECK-NEXT:    stablehlo.negate %arg0 : tensor<f32> loc(callsite("leaf" at callsite("in middle" at "in places")))
// CHECK-NEXT:    stablehlo.negate %{{.*}} : tensor<f32> loc("leaf")
// CHECK-NEXT:    return
// CHECK-NOT:   @leaf
// NONE-LABEL:  func @places
// NONE:        func private @middle
// NONE:        func private @leaf
func.func @places(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @middle(%x) : (tensor<f32>) -> tensor<f32> loc("in places")
  %1 = call @leaf(%0) : (tensor<f32>) -> tensor<f32> loc(unknown)
  return %1 : tensor<f32>
}
func.func private @middle(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @leaf(%x) : (tensor<f32>) -> tensor<f32> loc("in middle")
  return %0 : tensor<f32>
}
func.func private @leaf(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32> loc("leaf")
  return %0 : tensor<f32>
}

// -----

// A body is not inlined into what came out of it, in no round.
// CHECK-LABEL: func @enter
// CHECK-NEXT:    call @ping(%arg0) {{.*}} loc(callsite("in pong" at callsite("in ping" at "in enter")))
// CHECK-NEXT:    return
// ALL:         error: 'func.func' op is recursive; recursion cannot be inlined
func.func @enter(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @ping(%x) : (tensor<f32>) -> tensor<f32> loc("in enter")
  return %0 : tensor<f32>
}
func.func private @ping(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @pong(%x) : (tensor<f32>) -> tensor<f32> loc("in ping")
  return %0 : tensor<f32>
}
func.func private @pong(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @ping(%x) : (tensor<f32>) -> tensor<f32> loc("in pong")
  return %0 : tensor<f32>
}

// -----

// Of five ops two are 40 percent, four are 80.
// SOME-LABEL: func @sizes
// SOME-NEXT:    stablehlo.sine
// SOME-NEXT:    call @large
// CSE-LABEL:  func @sizes
// CSE-NEXT:     stablehlo.sine
// CSE-NEXT:     stablehlo.cosine
// CSE-NEXT:     stablehlo.add %[[C:.*]], %[[C]]
// CSE-NEXT:     stablehlo.negate
// CSE-NEXT:     stablehlo.negate
// CSE-NEXT:     return
func.func @sizes(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @small(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @large(%0) : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.negate %1 : tensor<f32>
  %3 = stablehlo.negate %2 : tensor<f32>
  return %3 : tensor<f32>
}
func.func private @small(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @large(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.cosine %x : tensor<f32>
  %1 = stablehlo.cosine %x : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
