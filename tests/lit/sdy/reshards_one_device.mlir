// Operands go to the one device through all devices, and results come back to all.
// RUN: terrazzo opt %s -sdy-insert-explicit-reshards=enable-full-version=true | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["y"=2]>
sdy.mesh @first = <[], device_ids=[0]>
sdy.mesh @second = <[], device_ids=[1]>

func.func @chain(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@first, []>]>} : tensor<8xf32>
  %1 = stablehlo.custom_call @f(%0) {sdy.sharding = #sdy.sharding_per_value<[<@second, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func @mixed(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{}]>}, %arg1: !stablehlo.token) -> (tensor<8xf32>, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, !stablehlo.token) {
  %0:3 = stablehlo.custom_call @f(%arg0, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@first, []>, <@mesh, [{"x"}]>, <@mesh, []>]>} : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, tensor<4xf32>, !stablehlo.token)
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<4xf32>, !stablehlo.token
}

// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@first, []> : tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@first, []>]>} : tensor<8xf32>
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %4 = sdy.reshard %3 <@second, []> : tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.custom_call @f(%4) {sdy.sharding = #sdy.sharding_per_value<[<@second, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %6 = sdy.reshard %5 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %7 = sdy.reshard %6 <@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %7 : tensor<8xf32>

// CHECK-LABEL: func.func @mixed
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@first, []> : tensor<8xf32>
// CHECK-NEXT: %2:3 = stablehlo.custom_call @f(%1, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@first, []>, <@first, []>, <@mesh, []>]>} : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, tensor<4xf32>, !stablehlo.token)
// CHECK-NEXT: %3 = sdy.reshard %2#0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %4 = sdy.reshard %2#1 <@mesh, [{}]> : tensor<4xf32>
// CHECK-NEXT: %5 = sdy.reshard %4 <@mesh, [{"x"}]> : tensor<4xf32>
// CHECK-NEXT: return %3, %5, %2#2 : tensor<8xf32>, tensor<4xf32>, !stablehlo.token
