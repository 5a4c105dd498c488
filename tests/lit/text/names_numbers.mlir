// Names of digits are names: %01 is not %1. Plain names are free again after a region, even where
// numbers are used once.
// RUN: terrazzo opt -allow-unregistered-dialect %s -mlir-print-unique-ssa-ids | FileCheck %s

// CHECK: func.func @f(%arg0: i32, %arg1: i64) {
func.func @f(%1: i32, %01: i64) {
  // CHECK-NEXT: "a.b"(%arg1, %arg0) ({
  "a.b"(%01, %1) ({
    // CHECK-NEXT: %cst = stablehlo.constant
    // CHECK-NEXT: %1 = "a.c"(%cst)
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %d = "a.c"(%c) : (tensor<f32>) -> i32
  }, {
    // CHECK: %cst = stablehlo.constant
    // CHECK-NEXT: %0 = "a.c"(%cst)
    %c = stablehlo.constant dense<2.0> : tensor<f32>
    %d = "a.c"(%c) : (tensor<f32>) -> i32
  }) : (i64, i32) -> ()
  return
}
