// The passes that ask ops what they infer, and whether they may be speculated.
// RUN: terrazzo opt --hlo-test-infer --hlo-test-speculatability -allow-unregistered-dialect %s | FileCheck %s

// CHECK-LABEL: func.func @infer
func.func @infer(%a: tensor<?x3xf32, #stablehlo.bounds<4, ?>>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>>
  // CHECK: "hlo_test_infer.return_types"(%0) {types0 = tensor<3x?xf32, #stablehlo.bounds<?, 4>>}
  %1 = "hlo_test_infer.get_return_types"(%0) : (tensor<3x?xf32, #stablehlo.bounds<?, 4>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>>
  return
}

// Of branches the greater bound holds; bounds of parts add up.
// CHECK-LABEL: func.func @infer_bounds
func.func @infer_bounds(%p: tensor<i1>, %a: tensor<?xf32, #stablehlo.bounds<3>>, %b: tensor<?xf32, #stablehlo.bounds<4>>, %c: tensor<5xf32>) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<?xf32, #stablehlo.bounds<3>>
  }, {
    stablehlo.return %b : tensor<?xf32, #stablehlo.bounds<4>>
  }) : (tensor<i1>) -> tensor<?xf32>
  // CHECK: "hlo_test_infer.return_types"(%0) {types0 = tensor<?xf32, #stablehlo.bounds<4>>}
  %1 = "hlo_test_infer.get_return_types"(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = stablehlo.concatenate %a, %c, dim = 0 : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<5xf32>) -> tensor<?xf32>
  // CHECK: "hlo_test_infer.return_types"(%2) {types0 = tensor<?xf32, #stablehlo.bounds<8>>}
  %3 = "hlo_test_infer.get_return_types"(%2) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// What holds is gone, and so is what only that used.
// CHECK-LABEL: func.func @speculate
// CHECK-NEXT: return
func.func @speculate(%s: tensor<2xf32>, %d: tensor<?xf32>) {
  %c = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = stablehlo.abs %d : tensor<?xf32>
  "hlo_test_speculatability.is_speculatable"(%0) : (tensor<?xf32>) -> ()
  %1 = "stablehlo.abs"(%d) : (tensor<?xf32>) -> tensor<2xf32>
  "hlo_test_speculatability.is_not_speculatable"(%1) : (tensor<2xf32>) -> ()
  %2 = stablehlo.add %d, %d : tensor<?xf32>
  "hlo_test_speculatability.is_not_speculatable"(%2) : (tensor<?xf32>) -> ()
  %3 = stablehlo.dynamic_reshape %s, %c : (tensor<2xf32>, tensor<1xi32>) -> tensor<?xf32>
  "hlo_test_speculatability.is_speculatable"(%3) : (tensor<?xf32>) -> ()
  %4 = "stablehlo.map"(%s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  "hlo_test_speculatability.is_recursively_speculatable"(%4) : (tensor<2xf32>) -> ()
  return
}

// What does not hold stays.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: stablehlo.abs
// CHECK-NEXT: is_not_speculatable
func.func @stays(%s: tensor<2xf32>) {
  %0 = stablehlo.abs %s : tensor<2xf32>
  "hlo_test_speculatability.is_not_speculatable"(%0) : (tensor<2xf32>) -> ()
  return
}
