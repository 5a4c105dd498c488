// Replica groups by the axes of a mesh came with StableHLO 1.16.
// RUN: terrazzo opt %s -o %t.mlir
// RUN: terrazzo opt %s --emit-bytecode --target=native | terrazzo opt | diff %t.mlir -
// RUN: terrazzo opt %s --emit-bytecode --target=1.16.0 | terrazzo opt | diff %t.mlir -
// RUN: not terrazzo opt %s --emit-bytecode --target=1.15.0 2>&1 | FileCheck %s
// CHECK: mesh_axes.mlir:10:8: error: 'stablehlo.all_gather' op uses attribute 'stablehlo.replica_group_mesh_axes', which cannot be expressed in StableHLO 1.15.0
module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%arg0: tensor<8x2xf32>) -> (tensor<8x4xf32>, tensor<8x8xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>}> : (tensor<8x2xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 4>], device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8x2xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x8xf32>
  }
}
