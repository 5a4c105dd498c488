// compiler_api, nested manual computations: each takes axes of its own.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-aggressive-propagate' | FileCheck %s

sdy.mesh @mesh_name = <["data"=2, "model"=2]>

func.func @main(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {}]>] out_shardings=[<@mesh_name, [{"data"}, {}]>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh_name, [{}, {"model"}]>] out_shardings=[<@mesh_name, [{}, {"model"}]>] manual_axes={"model"} (%arg2: tensor<8x16xf32>) {
      %2 = stablehlo.multiply %arg2, %arg2 : tensor<8x16xf32>
      sdy.return %2 : tensor<8x16xf32>
    } : (tensor<8x32xf32>) -> tensor<8x32xf32>
    sdy.return %1 : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// CHECK: sdy.mesh @mesh_name = <["data"=2, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 2 : i64}]}}
// CHECK: func.func @main(%arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh_name, [{"data", ?}, {?}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh_name, [{"data", ?}, {?}]>}) {
// CHECK-NEXT:   %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {}]>] out_shardings=[<@mesh_name, [{"data"}, {}]>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
// CHECK-NEXT:     %2 = sdy.data_flow_edge %arg1 sharding=<@mesh_name, [{}, {}]> : tensor<8x32xf32>
// CHECK-NEXT:     %3 = sdy.manual_computation(%2) in_shardings=[<@mesh_name, [{}, {"model"}]>] out_shardings=[<@mesh_name, [{}, {"model"}]>] manual_axes={"model"} (%arg2: tensor<8x16xf32>) {
// CHECK-NEXT:       %5 = sdy.data_flow_edge %arg2 sharding=<@mesh_name, [{}, {}]> : tensor<8x16xf32>
// CHECK-NEXT:       %6 = stablehlo.multiply %5, %5 : tensor<8x16xf32>
// CHECK-NEXT:       sdy.return %6 : tensor<8x16xf32>
// CHECK-NEXT:     } : (tensor<8x32xf32>) -> tensor<8x32xf32>
// CHECK-NEXT:     %4 = sdy.data_flow_edge %3 sharding=<@mesh_name, [{}, {"model"}]> : tensor<8x32xf32>
// CHECK-NEXT:     sdy.return %4 : tensor<8x32xf32>
// CHECK-NEXT:   } : (tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:   %1 = sdy.data_flow_edge %0 sharding=<@mesh_name, [{"data"}, {}]> : tensor<16x32xf32>
// CHECK-NEXT:   return %1 : tensor<16x32xf32>
// CHECK-NEXT: }
