// Shardings as GSPMD has them: on one mesh, whose axes are cut wherever some text cuts the devices.
// RUN: terrazzo opt %s -terrazzo-import-gspmd | FileCheck %s

// CHECK: sdy.mesh @gspmd_mesh = <["_axis_0"=2, "_axis_1"=2, "_axis_2"=3]>
// CHECK: func.func @main(%arg0: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@gspmd_mesh, [{"_axis_1", "_axis_2"}, {}]>}, %arg1: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@gspmd_mesh, [{}, {}]>}) -> (tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@gspmd_mesh, [{"_axis_0", "_axis_1"}, {}]>}) {
func.func @main(%arg0: tensor<12x12xf32> {mhlo.sharding = "{devices=[6,1,2]<=[2,6]T(1,0) last_tile_dim_replicate}"}, %arg1: tensor<12x12xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<12x12xf32> {mhlo.sharding = "{devices=[4,1,3]<=[12] last_tile_dim_replicate}"}) {
  // CHECK-NEXT: %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@gspmd_mesh, [{"_axis_1", "_axis_2"}, {}]>]>}
  %0 = stablehlo.add %arg0, %arg1 {mhlo.sharding = "{devices=[6,1,2]<=[2,6]T(1,0) last_tile_dim_replicate}"} : tensor<12x12xf32>
  // CHECK-NEXT: %1 = sdy.sharding_constraint %0 <@gspmd_mesh, [{"_axis_1", "_axis_2"}, {?}]>
  %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[6,1,2]<=[2,6]T(1,0) last_tile_dim_replicate}"} : (tensor<12x12xf32>) -> tensor<12x12xf32>
  return %1 : tensor<12x12xf32>
}

