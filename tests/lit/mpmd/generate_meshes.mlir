// Shardings name the mesh of the topology that their axes are of; those without axes the empty one.
// RUN: split-file %s %t
// RUN: mpmd_opt %t/fits.mlir -mpmd-generate-sdy-meshes-from-topology | FileCheck %s
// RUN: not mpmd_opt %t/no_mesh.mlir -mpmd-generate-sdy-meshes-from-topology 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not mpmd_opt %t/two_meshes.mlir -mpmd-generate-sdy-meshes-from-topology 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not mpmd_opt %t/taken.mlir -mpmd-generate-sdy-meshes-from-topology 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not mpmd_opt %t/none.mlir -mpmd-generate-sdy-meshes-from-topology 2>&1 | FileCheck %s --check-prefix=NONE
// AXIS: error: Axis name does not contain '_': 'x'
// TWO: error: Mesh name mismatch: 'b_x'
// TAKEN: error: Invalid mesh name: 'a'
// NONE: error: No topology attribute found

//--- fits.mlir
// CHECK-NOT: @mesh
// CHECK: sdy.mesh @empty_mesh = <[]>
// CHECK-NEXT: sdy.mesh @a = <["a_x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"a_x", ?}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{?}]>})
// CHECK-SAME: topology = #mpmd.topology<<"a" : <["a_x"=2]>>, <"empty_mesh" : <[]>>>
sdy.mesh @mesh = <["a_x"=2, "b_x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a_x", ?}]>},
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})
    attributes {topology = #mpmd.topology<<"a": <["a_x"=2]>>>} {
  return
}
//--- no_mesh.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    attributes {topology = #mpmd.topology<<"a": <["a_x"=2]>>>} {
  return
}
//--- two_meshes.mlir
sdy.mesh @mesh = <["a_x"=2, "b_x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a_x", "b_x"}]>})
    attributes {topology = #mpmd.topology<<"a": <["a_x"=2]>>>} {
  return
}
//--- taken.mlir
sdy.mesh @a = <["a_x"=2]>
func.func @main() attributes {topology = #mpmd.topology<<"a": <["a_x"=2]>>>} {
  return
}
//--- none.mlir
func.func @main() {
  return
}
