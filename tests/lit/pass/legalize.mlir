// RUN: terrazzo opt %s --stablehlo-legalize-deprecated-ops --stablehlo-legalize-composite-to-call --split-input-file --verify-diagnostics | FileCheck %s
// RUN: terrazzo opt %s --stablehlo-legalize-composite-to-call=except=a.b --split-input-file | FileCheck %s --check-prefix=EXCEPT

// CHECK-LABEL: func @deprecated
// CHECK-NEXT:    stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT]
// CHECK-NEXT:    stablehlo.broadcast_in_dim %arg2, dims = [1]
// CHECK-NEXT:    stablehlo.after_all
// CHECK-NEXT:    %[[ONE:.*]] = stablehlo.constant dense<1>
// CHECK-NEXT:    stablehlo.einsum %[[ONE]], %arg2, config = ",a->a"
// CHECK-NEXT:    "stablehlo.all_reduce"(%arg2)
func.func @deprecated(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %z: tensor<4xi32>) {
  %0 = stablehlo.dot %x, %y, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.broadcast %z, sizes = [7] : (tensor<4xi32>) -> tensor<7x4xi32>
  %2 = stablehlo.create_token : !stablehlo.token
  %3 = stablehlo.unary_einsum %z, config = "a->a" : (tensor<4xi32>) -> tensor<4xi32>
  %4 = "stablehlo.cross-replica-sum"(%z) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// CHECK-LABEL: func @composites
// CHECK-NEXT:    call @f(%arg0)
// CHECK-NEXT:    call @f(%arg0)
// EXCEPT-LABEL: func @composites
// EXCEPT-NEXT:    stablehlo.composite "a.b"
// EXCEPT-NEXT:    call @f(%arg0)
func.func @composites(%x: tensor<f32>) {
  %0 = stablehlo.composite "a.b" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "a.c" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @without(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{failed to legalize operation 'stablehlo.map' that was explicitly marked illegal}}
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.abs %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
