// How far canonicalize goes, and what it does to regions as such.
// RUN: terrazzo opt %s -allow-unregistered-dialect -canonicalize | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: terrazzo opt %s -allow-unregistered-dialect -canonicalize=max-iterations=1 | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: terrazzo opt %s -allow-unregistered-dialect -canonicalize=max-iterations=0 | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: terrazzo opt %s -allow-unregistered-dialect -canonicalize='max-iterations=1 max-num-rewrites=0' | FileCheck %s --check-prefixes=CHECK,SWEEP
// RUN: terrazzo opt %s -allow-unregistered-dialect -canonicalize='max-num-rewrites=0 region-simplify=disabled' | FileCheck %s --check-prefixes=CHECK,KEEP

// The branch of a case moves with what is inside, which is known in the same iteration.
// CHECK-LABEL: func @nested_case
// FULL-NEXT:     return %arg0
// NONE-COUNT-2:  "stablehlo.case"
// SWEEP-COUNT-2: "stablehlo.case"
// KEEP-COUNT-2:  "stablehlo.case"
func.func @nested_case(%x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %r = "stablehlo.case"(%c) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %n = "stablehlo.case"(%c0) ({
      stablehlo.return %x : tensor<f32>
    }, {
      "test.effect"() : () -> ()
      stablehlo.return %x : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %r : tensor<f32>
}

// Blocks that nothing leads to go, and arguments without uses.
// CHECK-LABEL: func @blocks
// FULL-NEXT:     "test.branch"()[^bb1]
// FULL-NEXT:   ^bb1(%{{[0-9]+}}: tensor<f32>):  // pred: ^bb0
// FULL-NEXT:     return
// FULL-NEXT:   }
// NONE:        ^bb1:
// NONE:        ^bb2(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
func.func @blocks(%x: tensor<f32>) -> tensor<f32> {
  "test.branch"()[^bb2] : () -> ()
^bb1:
  %0 = stablehlo.negate %x : tensor<f32>
  "test.branch"(%0)[^bb2] : (tensor<f32>) -> ()
^bb2(%a: tensor<f32>, %b: tensor<f32>):
  return %b : tensor<f32>
}

// What feeds a terminator inside of a dead op lives as long as that op.
// CHECK-LABEL: func @dead
// FULL-NEXT:     return
// NONE:          stablehlo.sine
// SWEEP-NEXT:    %[[S:.*]] = stablehlo.sine
// SWEEP-NEXT:    return
// KEEP:          stablehlo.sine
func.func @dead(%x: tensor<f32>, %i: tensor<i1>) {
  %s = stablehlo.sine %x : tensor<f32>
  %0 = "stablehlo.if"(%i) ({
    stablehlo.return %s : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// RUN: terrazzo opt %s -allow-unregistered-dialect -canonicalize=cse-between-iterations | FileCheck %s --check-prefix=CSE
// RUN: terrazzo opt %s -allow-unregistered-dialect -canonicalize='filter-dialects=chlo,sdy' | FileCheck %s --check-prefix=FILTER
// FILTER-LABEL: func @nested_case
// FILTER-COUNT-2: "stablehlo.case"

// CSE-LABEL:  func @twice
// CSE-COUNT-1:  stablehlo.sine
// CSE-NOT:      stablehlo.sine
// FULL-LABEL: func @twice
// FULL-COUNT-2: stablehlo.sine
func.func @twice(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = stablehlo.sine %x : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
