// What one device computes is a branch that it takes alone; all get the sum of its result and zeros.
// RUN: terrazzo opt %s -split-input-file -sdy-resolve-single-device-sharding -verify-diagnostics | FileCheck %s
// RUN: terrazzo opt %s -split-input-file -sdy-resolve-single-device-sharding='replica-count=2' -verify-diagnostics | FileCheck %s --check-prefix=REPLICA

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @third = <[], device_ids=[3]>
// REPLICA: stablehlo.replica_id
// CHECK-LABEL: func @main
// CHECK-NEXT:    %0 = stablehlo.partition_id
// CHECK-NEXT:    %1 = stablehlo.convert %0
// CHECK-NEXT:    %c = stablehlo.constant dense<3> : tensor<i64>
// CHECK-NEXT:    %2 = stablehlo.compare EQ, %1, %c
// CHECK-NEXT:    %3:2 = "stablehlo.if"(%2) ({
// CHECK-NEXT:      %6:2 = stablehlo.custom_call @f(%arg0, %arg0) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, !stablehlo.token)
// CHECK-NEXT:      stablehlo.return %6#0, %6#1
// CHECK-NEXT:    }, {
// CHECK-NEXT:      stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-NEXT:      stablehlo.create_token
// CHECK-NEXT:      stablehlo.return
// CHECK-NEXT:    })
// CHECK-NEXT:    %4 = sdy.all_reduce {"x", "y"} %3#0 out_sharding=<@mesh, [{}]>
// CHECK-NEXT:    %5 = sdy.reshard %4 <@mesh, [{"x"}]>
// CHECK-NEXT:    return %4, %5, %3#1
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, !stablehlo.token) {
  %0 = sdy.reshard %arg0 <@third, []> : tensor<8xf32>
  %1:2 = stablehlo.custom_call @f(%0, %0) {sdy.sharding = #sdy.sharding_per_value<[<@third, []>, <@mesh, []>]>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, !stablehlo.token)
  %2 = sdy.reshard %1#0 <@mesh, [{}]> : tensor<8xf32>
  %3 = sdy.reshard %1#0 <@mesh, [{"x"}]> : tensor<8xf32>
  return %2, %3, %1#1 : tensor<8xf32>, tensor<8xf32>, !stablehlo.token
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @first = <[], device_ids=[0]>
sdy.mesh @second = <[], device_ids=[1]>
func.func @two(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' op has results on two devices}}
  %0:2 = stablehlo.custom_call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@first, []>, <@second, []>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @first = <[], device_ids=[0]>
func.func @several(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' op has results on one device and others on several}}
  %0:2 = stablehlo.custom_call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@first, []>, <@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
