// A group gives its members what a step sees, without the manual axes.
// RUN: terrazzo opt %s --split-input-file --pass-pipeline='sdy-import-pipeline,sdy-apply-sharding-constraints,sdy-sharding-group-import,sdy-aggressive-propagate' | FileCheck %s

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

// -----
// A free axis before a manual one, which only a group brings: how far the manual axes go is found by
// halves, as in Shardy.

sdy.mesh @mesh = <["a"=3, "b"=2]>
func.func @halves(%arg0: tensor<24x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "a"}, {}]>}) -> tensor<24x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"a"} (%x: tensor<24x8xf32>) {
    %1 = stablehlo.negate %x : tensor<24x8xf32>
    sdy.return %1 : tensor<24x8xf32>
  } : (tensor<24x8xf32>) -> tensor<24x8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<24x8xf32>
  sdy.sharding_group %arg0 group_id=0 : tensor<24x8xf32>
  return %0 : tensor<24x8xf32>
}

// CHECK-LABEL: func.func @halves
// CHECK: sdy.data_flow_edge %arg1 sharding=<@mesh, [{"b", ?}, {?}]>
// CHECK-NEXT: stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", ?}, {?}]>]>}
// CHECK: sdy.data_flow_edge %0 sharding=<@mesh, [{"b", "a"}, {}]>
