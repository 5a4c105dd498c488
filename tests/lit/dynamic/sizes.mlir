// What shape, tensor and arith work out of sizes; and constants of arith, which are as stablehlo's.
// RUN: stablehlo-translate --interpret --args='[dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>, dense<[[10.0], [20.0]]> : tensor<2x1xf32>]' %s | FileCheck %s
// RUN: not stablehlo-translate --interpret --args='[dense<1.0> : tensor<4x3xf32>, dense<2.0> : tensor<2x3xf32>]' %s 2>&1 | FileCheck %s --check-prefix=ERR
// RUN: terrazzo ops arith.constant | FileCheck %s --check-prefix=OPS

// OPS: arith.constant {{.*}}yes
// CHECK: tensor<2x3xf32> {
// CHECK: [1.100000e+01, 1.200000e+01, 1.300000e+01],
// CHECK: [2.100000e+01, 2.200000e+01, 2.300000e+01]
// CHECK: tensor<12xi32> {
// CHECK-NEXT: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
// CHECK: tensor<2xf32> {
// CHECK-NEXT: [5.000000e-01, 1.500000e+00]
// ERR: error: 'shape.assuming' op is not implemented
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<12xi32>, tensor<2xf32>) {
  %sa = shape.shape_of %a : tensor<?x?xf32> -> tensor<2xindex>
  %sb = shape.shape_of %b : tensor<?x?xf32> -> tensor<2xindex>
  %w = shape.cstr_broadcastable %sa, %sb : tensor<2xindex>, tensor<2xindex>
  %r = shape.assuming %w -> (tensor<?x?xf32>) {
    %s = shape.broadcast %sa, %sb : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %x = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %y = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %z = stablehlo.add %x, %y : tensor<?x?xf32>
    shape.assuming_yield %z : tensor<?x?xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %m = tensor.extract %sb[%c0] : tensor<2xindex>
  %p = arith.muli %n, %m : index
  %q = arith.addi %p, %p : index
  %d = arith.divsi %q, %m : index
  %e = arith.subi %d, %n : index
  %f = arith.maxsi %e, %m : index
  %lt = arith.cmpi slt, %f, %q : index
  %g = arith.select %lt, %q, %f : index
  %shape = tensor.from_elements %g : tensor<1xindex>
  %i = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xindex>) -> tensor<?xi32>
  %j = tensor.cast %i : tensor<?xi32> to tensor<12xi32>
  %k = arith.constant dense<[0.5, 1.5]> : tensor<2xf32>
  return %r, %j, %k : tensor<?x?xf32>, tensor<12xi32>, tensor<2xf32>
}
