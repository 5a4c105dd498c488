// A group gives its members what a step sees, without the manual axes.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-apply-sharding-constraints,sdy-sharding-group-import,sdy-aggressive-propagate' | FileCheck %s

sdy.mesh @mesh = <["a"=2, "c"=2]>
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{?}], replicated={"c"}>] out_shardings=[<@mesh, [{?}], replicated={"c"}>] manual_axes={"c"} (%x: tensor<8xf32>) {
    %2 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>} : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.negate %arg1 : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  sdy.sharding_group %1 group_id=0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK: sdy.mesh @mesh = <["a"=2, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "c", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}) {
// CHECK-NEXT:   %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{?}], replicated={"c"}>] out_shardings=[<@mesh, [{?}], replicated={"c"}>] manual_axes={"c"} (%arg2: tensor<8xf32>) {
// CHECK-NEXT:     %3 = sdy.data_flow_edge %arg2 sharding=<@mesh, [{"a", ?}]> : tensor<8xf32>
// CHECK-NEXT:     %4 = stablehlo.tanh %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>} : tensor<8xf32>
// CHECK-NEXT:     sdy.return %4 : tensor<8xf32>
// CHECK-NEXT:   } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:   %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a", ?}], replicated={"c"}> : tensor<8xf32>
// CHECK-NEXT:   %2 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>} : tensor<8xf32>
// CHECK-NEXT:   sdy.sharding_group %1 group_id=0 : tensor<8xf32>
// CHECK-NEXT:   sdy.sharding_group %2 group_id=0 : tensor<8xf32>
// CHECK-NEXT:   return %1, %2 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT: }
