// What comes after propagation, by itself: it ends with meshes spelled out, unless told otherwise.
// RUN: terrazzo opt %s -sdy-export-pipeline | FileCheck %s
// RUN: terrazzo opt %s -sdy-export-pipeline='inline-meshes=false' | FileCheck %s --check-prefix=NAMED
// RUN: terrazzo opt %s -sdy-export-pipeline='avoid-export-for-partitioning=true' | FileCheck %s --check-prefix=AVOID
// RUN: terrazzo opt %s -sdy-propagation-pipeline | FileCheck %s --check-prefix=NAMED

sdy.mesh @mesh = <["a"=4, "b"=2]>
// CHECK-NOT:   sdy.mesh
// CHECK:       func.func @main(%arg0: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=4, "b"=2]>, [{}, {"b"}]>}) -> tensor<2x8xf32> {
// CHECK-NEXT:    sdy.reshard %arg0 <mesh<["a"=4, "b"=2]>, [{"b"}, {}]>
// NAMED:       sdy.mesh @mesh
// NAMED:       func.func @main(%arg0: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>})
// NAMED-NEXT:    sdy.reshard %arg0 <@mesh, [{"b"}, {}]>
// AVOID:       sdy.mesh @mesh
// AVOID:       func.func @main(%arg0: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>})
// AVOID-NEXT:    sdy.sharding_constraint %arg0 <@mesh, [{"b"}, {}]>
func.func @main(%arg0: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b"}]>}) -> tensor<2x8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"b"}, {?}]> : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
