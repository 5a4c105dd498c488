// Manual computations of GSPMD: two of them; a constant of the outside is copied in, and what says
// {manual} goes.
// RUN: terrazzo opt %s -terrazzo-import-gspmd | FileCheck %s

// CHECK: sdy.mesh @gspmd_mesh = <["_axis_0"=4, "_axis_1"=2]>
// CHECK: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@gspmd_mesh, [{"_axis_0"}, {"_axis_1"}]>}) -> tensor<8x8xf32> {
func.func @main(%arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<2x4xf32>
  %c = stablehlo.constant dense<2.0> : tensor<2x4xf32>
  // CHECK-NEXT: %[[X:.*]] = sdy.sharding_constraint %arg0 <@gspmd_mesh, [{"_axis_0"}, {"_axis_1"}]>
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[4,2]<=[8]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[M:.*]] = sdy.manual_computation(%[[X]]) in_shardings=[<@gspmd_mesh, [{"_axis_0"}, {"_axis_1"}]>] out_shardings=[<@gspmd_mesh, [{"_axis_1"}, {"_axis_0"}]>] manual_axes={"_axis_0", "_axis_1"} (%arg1: tensor<2x4xf32>) {
  // CHECK-NEXT:   %[[D:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<2x4xf32>
  // CHECK-NEXT:   %[[P:.*]] = stablehlo.multiply %arg1, %[[D]]
  %2 = stablehlo.multiply %1, %c : tensor<2x4xf32>
  // CHECK-NEXT:   %[[T:.*]] = stablehlo.transpose %[[P]]
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT:   sdy.return %[[T]] : tensor<4x2xf32>
  %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{manual}"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[2,4]<=[4,2]T(1,0)}"} : (tensor<4x2xf32>) -> tensor<8x8xf32>
  // CHECK: %[[Y:.*]] = stablehlo.tanh %[[M]]
  %6 = stablehlo.tanh %5 : tensor<8x8xf32>
  // CHECK: %[[Z:.*]] = sdy.sharding_constraint %[[Y]] <@gspmd_mesh, [{"_axis_0"}, {}]>
  %7 = stablehlo.custom_call @Sharding(%6) {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = stablehlo.custom_call @SPMDFullToShardShape(%7) {mhlo.sharding = "{manual}"} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[N:.*]] = sdy.manual_computation(%[[Z]]) in_shardings=[<@gspmd_mesh, [{"_axis_0"}, {}]>]
  %9 = stablehlo.negate %8 : tensor<2x8xf32>
  %10 = stablehlo.custom_call @SPMDShardToFullShape(%9) {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  // CHECK: return %[[N]]
  return %10 : tensor<8x8xf32>
}

