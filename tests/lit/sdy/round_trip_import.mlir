// Shardings that travel as frontend attributes and custom calls, as XLA carries them.
// RUN: terrazzo opt %s -xla-sdy-round-trip-import-pipeline | FileCheck %s

// CHECK: module @jit_f attributes {mhlo.frontend_attributes = {kept = "1"}, mhlo.num_partitions = 8 : i32} {
module @jit_f attributes {mhlo.frontend_attributes = {kept = "1", xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=4, \22y\22=2]>, one = #sdy.mesh<[], device_ids=[3]>}"}, mhlo.num_partitions = 8 : i32} {
  // CHECK-NEXT: sdy.mesh @mesh = <["x"=4, "y"=2]>
  // CHECK-NEXT: sdy.mesh @one = <[], device_ids=[3]>
  // CHECK-NEXT: func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8xf32>) -> (tensor<8x8xf32> {jax.result_info = "r", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) {
  func.func public @main(%arg0: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}, {}]>"}, mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}, %arg1: tensor<8xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<8x8xf32> {jax.result_info = "r", mhlo.sharding = "{replicated}"}) {
    // CHECK-NEXT: %0 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}, {}]>]>"}, mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: %1 = stablehlo.negate %0 : tensor<8x8xf32>
    %1 = stablehlo.negate %0 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}]>]>"}} : tensor<8x8xf32>
    // CHECK-NEXT: %2 = stablehlo.custom_call @foo(%1) {mhlo.frontend_attributes = {a = "b"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.custom_call @foo(%1) {mhlo.frontend_attributes = {a = "b", xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: sdy.sharding_group %2 group_id=5 : tensor<8x8xf32>
    stablehlo.custom_call @xla.sdy.ShardingGroup(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "5 : i64"}} : (tensor<8x8xf32>) -> ()
    // CHECK-NEXT: %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<2x8xf32>) {
    // CHECK-NEXT:   %4 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} () {
    // CHECK-NEXT:     %[[C:.*]] = stablehlo.constant
    // CHECK-NEXT:     sdy.return %[[C]] : tensor<2x4xf32>
    // CHECK-NEXT:   } : () -> tensor<2x8xf32>
    // CHECK-NEXT:   %5 = stablehlo.add %arg2, %4 : tensor<2x8xf32>
    // CHECK-NEXT:   sdy.return %5 : tensor<2x8xf32>
    // CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8x8xf32>) -> tensor<2x8xf32>
    %4 = call @xla.sdy.manual_computation_body(%3) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %5 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%4) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}, {}]>]>"}} : (tensor<2x8xf32>) -> tensor<8x8xf32>
    %6 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%5) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}, {?}]>]>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: return %3 : tensor<8x8xf32>
    return %6 : tensor<8x8xf32>
  }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  func.func @xla.sdy.manual_computation_body(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = call @xla.sdy.manual_computation_body_0() : () -> tensor<2x4xf32>
    %1 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\22y\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{}, {\22y\22}]>]>"}} : (tensor<2x4xf32>) -> tensor<2x8xf32>
    %2 = stablehlo.add %arg0, %1 : tensor<2x8xf32>
    return %2 : tensor<2x8xf32>
  }
  func.func @xla.sdy.manual_computation_body_0() -> tensor<2x4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}
