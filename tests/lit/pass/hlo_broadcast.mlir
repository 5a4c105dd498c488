// RUN: terrazzo opt --hlo-test-broadcast -allow-unregistered-dialect %s | FileCheck %s

// CHECK-LABEL: func.func @both
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: stablehlo.custom_call @numpy_broadcasted(%0, %1)
func.func @both(%a: tensor<2x1xf32>, %b: tensor<3xf32>) {
  "hlo_test_broadcast.numpy_broadcast"(%a, %b) : (tensor<2x1xf32>, tensor<3xf32>) -> ()
  return
}

// An open dimension: padded to the bound, then given its size.
// CHECK-LABEL: func.func @bounded
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
// CHECK-NEXT: %1 = stablehlo.get_dimension_size %arg0, dim = 1
// CHECK-NEXT: %2 = stablehlo.set_dimension_size %0, %1, dim = 1 : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 4>>
// CHECK-NEXT: stablehlo.custom_call @numpy_broadcasted(%arg0, %2)
func.func @bounded(%a: tensor<2x?xf32, #stablehlo.bounds<?, 4>>, %b: tensor<f32>) {
  "hlo_test_broadcast.numpy_broadcast"(%a, %b) : (tensor<2x?xf32, #stablehlo.bounds<?, 4>>, tensor<f32>) -> ()
  return
}
