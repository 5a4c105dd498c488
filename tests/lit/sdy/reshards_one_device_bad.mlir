// RUN: terrazzo opt %s -split-input-file -verify-diagnostics -sdy-insert-explicit-reshards=enable-full-version=true
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics -sdy-insert-explicit-reshards

sdy.mesh @first = <[], device_ids=[0]>
// expected-error @+1 {{function argument 1 cannot have a single-device (maximal) sharding attribute}}
func.func @taken(%arg0: tensor<8xf32>, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@first, []>}) {
  return
}

// -----

sdy.mesh @first = <[], device_ids=[0]>
sdy.mesh @second = <[], device_ids=[1]>
func.func @both(%arg0: tensor<8xf32>) {
  // expected-error @+1 {{has conflicting single-device result shardings}}
  %0:2 = stablehlo.custom_call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@first, []>, <@second, []>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}
