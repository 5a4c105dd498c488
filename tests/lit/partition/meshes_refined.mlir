// Two meshes over the same devices in the same order: "x" of the one is "a", "b" of the other, so
// that only "b" is gathered. Where one has no word for what the other says, all is gathered.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @line = <["x"=8]>
sdy.mesh @grid = <["a"=2, "b"=4]>
sdy.mesh @turned = <["a"=2, "b"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>

// CHECK-LABEL: func.func @finer
// CHECK: %[[G:.*]] = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
// CHECK-SAME: (tensor<2xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[G]]
func.func @finer(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}]>}) {
  %0 = sdy.reshard %arg0 <@grid, [{"a"}]> : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: func.func @other_order
// CHECK: "stablehlo.all_gather"
// CHECK-SAME: (tensor<2xf32>) -> tensor<16xf32>
func.func @other_order(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@line, [{"x"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@turned, [{"a"}]>}) {
  %0 = sdy.reshard %arg0 <@turned, [{"a"}]> : tensor<16xf32>
  return %0 : tensor<16xf32>
}
