// stablehlo.custom_call of the first k in an order: by name, with an order of their own, and of no use.
// RUN: stablehlo-translate --interpret %s | FileCheck %s
func.func @gt(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @lt(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @far(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.abs %arg0 : tensor<f32>
  %1 = stablehlo.abs %arg1 : tensor<f32>
  %2 = stablehlo.compare GT, %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %2 : tensor<i1>
}
func.func @main() {
  %x = stablehlo.constant dense<[[1., -5., 3., 2.], [0., 4., -1., 4.]]> : tensor<2x4xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %i1 = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<2x4xi32>

  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i1, %low, %none) {called_computations = [@gt], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[3., 2.], [4., 4.]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<[[2, 3], [1, 3]]> : tensor<2x2xi32>

  %1:2 = stablehlo.custom_call @PartialReduce(%x, %i0, %low, %none) {called_computations = [@lt], mhlo.backend_config = {reduction_dim = 0 : i64}} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<1x4xf32>, tensor<1x4xi32>)
  check.expect_eq_const %1#0, dense<[[0., -5., -1., 2.]]> : tensor<1x4xf32>
  check.expect_eq_const %1#1, dense<[[1, 0, 1, 0]]> : tensor<1x4xi32>

  %2 = stablehlo.custom_call @ApproxTopK(%x, %low) {called_computations = [@far], mhlo.backend_config = {reduction_dim = 1 : i64}} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  check.expect_eq_const %2, dense<[[-5., 3., 2.], [4., 4., -1.]]> : tensor<2x3xf32>

  %3:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}} : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %3#0, dense<[[-5., 1.], [-1., 0.]]> : tensor<2x2xf32>
  check.expect_eq_const %3#1, dense<[[1, 0], [2, 0]]> : tensor<2x2xi32>

  %4:2 = stablehlo.custom_call @TopK(%x) {called_computations = [@gt]} : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  check.expect_eq_const %4#0, dense<[[3.], [4.]]> : tensor<2x1xf32>
  check.expect_eq_const %4#1, dense<[[2], [1]]> : tensor<2x1xi32>

  %5:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 9 : i64}} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  %shown = stablehlo.slice %5#1 [0:1, 0:4] : (tensor<2x4xi32>) -> tensor<1x4xi32>
  // CHECK: [2, 3, 0, 1]
  interpreter.print %shown : tensor<1x4xi32>
  return
}
