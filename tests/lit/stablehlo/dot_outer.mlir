// A product without contracted dimensions is a multiplication, which loops read as any other; one
// whose type is wider than its operands' stays.
// RUN: terrazzo run %s --dump flatten --dry-run 2>&1 | FileCheck %s
// RUN: terrazzo run %s
// CHECK-LABEL: after flatten
// CHECK-DAG: %[[X:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x2xf32>
// CHECK-DAG: %[[Y:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [2, 0] : (tensor<2x2xf32>) -> tensor<2x3x2xf32>
// CHECK: stablehlo.multiply %[[X]], %[[Y]] : tensor<2x3x2xf32>
// CHECK: stablehlo.dot_general
func.func @main() -> tensor<2x2xi32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[[10.0, 20.0], [30.0, 40.0]]> : tensor<2x2xf32>
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [] x [] : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x3x2xf32>
  %i = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
  %1 = stablehlo.dot_general %i, %i, contracting_dims = [] x [] : (tensor<2xi8>, tensor<2xi8>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[[10.0, 30.0], [20.0, 60.0], [30.0, 90.0]], [[80.0, 160.0], [100.0, 200.0], [120.0, 240.0]]]> : tensor<2x3x2xf32>
  return %1 : tensor<2x2xi32>
}
