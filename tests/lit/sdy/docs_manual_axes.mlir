// compiler_api, invariants of manual computations that the import makes true: manual axes are in the order of
// the mesh, and each sharding uses all of them.
// RUN: terrazzo opt %s -sdy-manual-axes-cleanup | FileCheck %s

sdy.mesh @mesh_name = <["data"=2, "model"=2]>
func.func @used(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {"model", ?}]>] out_shardings=[<@mesh_name, [{}, {?}]>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
    %1 = stablehlo.concatenate %arg1, %arg1, dim = 0 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
    sdy.return %1 : tensor<16x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
func.func @sorted(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {"model"}]>] out_shardings=[<@mesh_name, [{"data"}, {"model"}]>] manual_axes={"model", "data"} (%arg1: tensor<8x16xf32>) {
    sdy.return %arg1 : tensor<8x16xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// CHECK: sdy.mesh @mesh_name = <["data"=2, "model"=2]>
// CHECK: func.func @used(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:   %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {"model", ?}]>] out_shardings=[<@mesh_name, [{}, {?}], replicated={"data"}>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
// CHECK-NEXT:     %1 = stablehlo.concatenate %arg1, %arg1, dim = 0 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:     sdy.return %1 : tensor<16x32xf32>
// CHECK-NEXT:   } : (tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:   return %0 : tensor<16x32xf32>
// CHECK-NEXT: }
// CHECK: func.func @sorted(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:   %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {"model"}]>] out_shardings=[<@mesh_name, [{"data"}, {"model"}]>] manual_axes={"data", "model"} (%arg1: tensor<8x16xf32>) {
// CHECK-NEXT:     sdy.return %arg1 : tensor<8x16xf32>
// CHECK-NEXT:   } : (tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:   return %0 : tensor<16x32xf32>
// CHECK-NEXT: }
