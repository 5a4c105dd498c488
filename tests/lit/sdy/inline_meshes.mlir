// Meshes are spelled out where they are named, in replica groups too, and get names again.
// RUN: terrazzo opt %s -sdy-inline-meshes | FileCheck %s --check-prefix=INLINE --implicit-check-not=sdy.mesh --implicit-check-not=@
// RUN: terrazzo opt %s -sdy-inline-meshes -sdy-lift-inlined-meshes | FileCheck %s --check-prefix=LIFT

sdy.mesh @mesh = <["a"=2]>
sdy.mesh @turned = <["b"=2], device_ids=[1, 0]>

// INLINE:      func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}]>, x.y}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["b"=2], device_ids=[1, 0]>, [{"b"}]>}) {
// INLINE-NEXT:   stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["a"=2]>, [{"a"}]>]>}
// INLINE-NEXT:   "stablehlo.all_to_all"{{.*}}mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>]>, axes = [#stablehlo.axis_ref<name = "a">]>
// INLINE-NEXT:   "stablehlo.all_to_all"{{.*}}mesh = #stablehlo.mesh<axes=[<name = "b", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "b">]>
// LIFT-DAG: sdy.mesh [[A:@mesh[_0-9]*]] = <["a"=2]>
// LIFT-DAG: sdy.mesh [[B:@mesh[_0-9]*]] = <["b"=2], device_ids=[1, 0]>
// LIFT:     func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<[[A]], [{"a"}]>, x.y}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<[[B]], [{"b"}]>}) {
// LIFT:     mesh = [[A]], axes
// LIFT:     mesh = [[B]], axes
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, x.y}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@turned, [{"b"}]>}) {
  %0 = stablehlo.abs %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  %1 = "stablehlo.all_to_all"(%0) <{concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>, split_count = 1 : i64, split_dimension = 0 : i64}> : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "stablehlo.all_to_all"(%1) <{concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @turned, axes = [#stablehlo.axis_ref<name = "b">]>, split_count = 1 : i64, split_dimension = 0 : i64}> : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
