// Shapes as ops; and the syntax of those ops.
// RUN: terrazzo opt --hlo-test-infer -allow-unregistered-dialect %s | FileCheck %s
// RUN: terrazzo opt --hlo-test-infer -allow-unregistered-dialect %s | terrazzo opt | FileCheck %s
// RUN: terrazzo opt --hlo-test-infer -allow-unregistered-dialect -mlir-print-op-generic %s | terrazzo opt | FileCheck %s

// CHECK-LABEL: func.func @concatenate
// CHECK: %[[A:.+]] = tensor.dim %arg0, %{{.+}} : tensor<?x3xf32>
// CHECK: %[[B:.+]] = tensor.dim %arg1, %{{.+}} : tensor<?x3xf32>
// CHECK: %[[S:.+]] = arith.addi %[[A]], %[[B]] : index
// CHECK: %[[R:.+]] = tensor.from_elements %[[S]], %{{.+}} : tensor<2xindex>
// CHECK: return %[[R]]
func.func @concatenate(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<2xindex> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = "hlo_test_infer.reify_return_type_shapes"(%0) : (tensor<?x3xf32>) -> tensor<2xindex>
  return %1 : tensor<2xindex>
}

// CHECK-LABEL: func.func @pad
// CHECK: %[[L:.+]] = tensor.extract %arg2[%{{.+}}] : tensor<1xindex>
// CHECK: %[[C:.+]] = arith.cmpi slt, %{{.+}}, %{{.+}} : index
// CHECK: arith.select %[[C]], %{{.+}}, %{{.+}} : index
func.func @pad(%a: tensor<?xf32>, %v: tensor<f32>, %l: tensor<1xindex>) -> tensor<1xindex> {
  %0 = stablehlo.dynamic_pad %a, %v, %l, %l, %l : (tensor<?xf32>, tensor<f32>, tensor<1xindex>, tensor<1xindex>, tensor<1xindex>) -> tensor<?xf32>
  %1 = "hlo_test_infer.reify_return_type_shapes"(%0) : (tensor<?xf32>) -> tensor<1xindex>
  return %1 : tensor<1xindex>
}

// CHECK-LABEL: func.func @broadcast
// CHECK: %[[X:.+]] = shape.shape_of %arg0
// CHECK: %[[Y:.+]] = shape.shape_of %arg1
// CHECK: shape.broadcast %[[X]], %[[Y]] : tensor<1xindex>, tensor<2xindex> -> tensor<2xindex>
func.func @broadcast(%a: tensor<?xf32>, %b: tensor<?x?xf32>) -> tensor<2xindex> {
  %0 = chlo.broadcast_add %a, %b : (tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "hlo_test_infer.reify_return_type_shapes"(%0) : (tensor<?x?xf32>) -> tensor<2xindex>
  return %1 : tensor<2xindex>
}
