// The two meshes name the same devices in another order, so that nothing moves; what is gathered
// then goes by the second mesh's names all the same.
// RUN: terrazzo opt %s -sdy-convert-global-to-local="by-records move-least" | FileCheck %s

sdy.mesh @mesh = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @other = <["a"=2, "b"=2]>
// CHECK: %[[SAME:.*]] = stablehlo.reshape %arg0 : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[ALL:.*]] = "stablehlo.all_gather"(%[[SAME]]) <{all_gather_dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 2], [1, 3]]> {{.*}} : (tensor<2x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: return %[[ALL]] : tensor<4x1xf32>
func.func @main(%arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}, {"b"}]>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) {
  %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"b"}, {"a"}]> : tensor<4x2xf32>
  %1 = sdy.all_gather [{"b"}, {}] %0 out_sharding=<@mesh, [{}, {"a"}]> : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
