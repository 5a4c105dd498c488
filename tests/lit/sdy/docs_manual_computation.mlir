// compiler_api, manual computation: "data" is manual, "model" propagates through the body.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-aggressive-propagate' | FileCheck %s

sdy.mesh @mesh_name = <["data"=2, "model"=2]>

func.func @main(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<16x32xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh_name, [{"data"}, {"model", ?}]>] out_shardings=[<@mesh_name, [{"data"}, {?}]>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
    %2 = stablehlo.add %arg1, %arg1 : tensor<8x32xf32>
    sdy.return %2 : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// CHECK: sdy.mesh @mesh_name = <["data"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh_name, [{"data", ?}, {"model", ?}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh_name, [{"data", ?}, {"model", ?}]>}) {
// CHECK-NEXT:   %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_name, [{"data", ?}, {"model", ?}]>]>} : tensor<16x32xf32>
// CHECK-NEXT:   %1 = sdy.manual_computation(%0) in_shardings=[<@mesh_name, [{"data"}, {"model", ?}]>] out_shardings=[<@mesh_name, [{"data"}, {?}]>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
// CHECK-NEXT:     %3 = sdy.data_flow_edge %arg1 sharding=<@mesh_name, [{}, {"model", ?}]> : tensor<8x32xf32>
// CHECK-NEXT:     %4 = stablehlo.add %3, %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh_name, [{?}, {"model", ?}]>]>} : tensor<8x32xf32>
// CHECK-NEXT:     sdy.return %4 : tensor<8x32xf32>
// CHECK-NEXT:   } : (tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:   %2 = sdy.data_flow_edge %1 sharding=<@mesh_name, [{"data"}, {"model", ?}]> : tensor<16x32xf32>
// CHECK-NEXT:   return %2 : tensor<16x32xf32>
// CHECK-NEXT: }
