// Where and how rare mistakes of syntax are reported: the column is MLIR's.
// RUN: not terrazzo opt -split-input-file %s 2>&1 | FileCheck %s

// CHECK: :36: error: multiple memory spaces specified in memref type
func.func @f(%x: memref<4xf32, 1, 2>) {
}
// -----
// CHECK: :36: error: multiple memory spaces specified in memref type
func.func @f(%x: memref<4xf32, 0, 2>) {
}
// -----
// CHECK: :57: error: expected memory space to be last in memref type
func.func @f(%x: memref<4xf32, 1, affine_map<(d0)->(d0)>>) {
}
// -----
// CHECK: :54: error: cannot have affine map for unranked memref type
func.func @f(%x: memref<*xf32, affine_map<(d0)->(d0)>, 2>) {
}
// -----
// CHECK: :27: error: expected non-function type
func.func @f(%x: tensor<?x*xf32>) {
}
// -----
// CHECK: :27: error: expected non-function type
func.func @f(%x: memref<2x*xf32>) {
}
// -----
// CHECK: :25: error: expected non-function type
func.func @f(%x: tensor<1.5>) {
}
// -----
// CHECK: :27: error: expected non-function type
func.func @f(%x: tensor<2x1.5xf32>) {
}
// -----
// CHECK: :7: error: expected operation name in quotes
func.func @f() {
  %0 = i32
}
// -----
// CHECK: :8: error: custom op 'f32' is unknown (tried 'func.f32' as well)
func.func @f() {
  %0 = f32
}
// -----
// CHECK: :26: error: custom op 'sdy.manual_computation' number of operands and types do not match: got 0 operands and 1 types
func.func @f() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : (tensor<2xi32>) -> ()
}
// -----
// CHECK: :37: error: custom op 'sdy.named_computation' number of operands and types do not match: got 1 operands and 0 types
func.func @f(%arg0: tensor<2xi32>) {
  %0 = sdy.named_computation<"foo">(%arg0) (%arg1: tensor<2xi32>) {
    sdy.return %arg1 : tensor<2xi32>
  } : () -> tensor<2xi32>
}
// -----
// CHECK: :8: error: 'sdy.named_computation' op inferred type(s)  are incompatible with return type(s) of operation 'tensor<2xi32>'
// CHECK: :8: error: 'sdy.named_computation' op failed to infer returned types
func.func @f(%arg0: tensor<2xi32>) {
  %0 = sdy.named_computation<"foo">(%arg0) (%arg1: tensor<2xi32>) {
    sdy.return
  } : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// CHECK: :36: error: expected ','
func.func @f(%arg0: tensor<i32>) {
  %0:2 = stablehlo.while(%i = %arg0 %j = %arg0) : tensor<i32>, tensor<i32>
}
// -----
// CHECK: :97: error: custom op 'stablehlo.dot_general' expected 'algorithm'
func.func @f(%arg0: tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT], precision = [DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
}
// -----
// CHECK: :8: error: 'chlo.tan' op all non-scalar operands/results must have the same shape and base type
func.func @f(%arg0: tensor<*xf32>) {
  %0 = chlo.tan %arg0 : tensor<*xf32> -> tensor<3xf32>
  return
}
// -----
// CHECK: :8: error: 'chlo.is_inf' op all non-scalar operands/results must have the same shape and base type
func.func @f(%arg0: tensor<2xf32>) {
  %0 = chlo.is_inf %arg0 : tensor<2xf32> -> tensor<3xi1>
  return
}
// -----
// CHECK: :10: error: custom op 'func.return' number of operands and types do not match: got 2 operands and 1 types
func.func @f(%arg0: i32) -> i32 {
  return %arg0, %arg0 : i32
}
// -----
// CHECK: :3: error: custom op 'stablehlo.custom_call' number of operands and types do not match: got 1 operands and 0 types
func.func @f(%arg0: tensor<2xf32>) {
  stablehlo.custom_call @foo(%arg0) : () -> ()
}
// -----
// CHECK: :92: error: custom op 'stablehlo.reduce' invalid kind of type specified: expected builtin.function, but found 'tensor<2xf32>'
func.func @f(%arg0: tensor<2x2xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : tensor<2xf32>
}
