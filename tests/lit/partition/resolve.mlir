// Slices, pads, reverses and reshapes whose shards need elements of other shards exchange them;
// what an exchange would get wrong, or what has none, is replicated.
// RUN: terrazzo opt %s -split-input-file -sdy-resolve-permutation-factors -verify-diagnostics | FileCheck %s
// RUN: terrazzo opt %s -split-input-file -sdy-resolve-permutation-factors='enable-halo-exchange=false replica-count=4' -verify-diagnostics | FileCheck %s --check-prefix=WHOLE

// WHOLE-NOT: stablehlo.collective_permute
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @pair = <["y"=2]>

// The other dimension is cut on each shard; channels go on where the program's own end.
// CHECK-LABEL: func.func @slice(
func.func @slice(%arg0: tensor<8x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<7x2xi32> {
  // CHECK: %[[M:.*]] = sdy.manual_computation(%arg0, %c) {{.*}} manual_axes={"x"} (%arg1: tensor<2x3xi32>, %arg2: tensor<i32>) {
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.concatenate %arg1, %[[R]], dim = 0
  // CHECK-NEXT: %[[P:.*]] = stablehlo.pad %[[B]], %arg2, low = [2, 0], high = [2, 0], interior = [0, 0]
  // CHECK: %[[F:.*]] = stablehlo.constant dense<3> : tensor<i64>
  // CHECK: %[[D:.*]] = stablehlo.dynamic_slice %[[P]], {{.*}} sizes = [2, 3]
  // CHECK-NEXT: stablehlo.slice %[[D]] [0:2, 1:3]
  // CHECK: } : (tensor<8x3xi32>, tensor<i32>) -> tensor<8x2xi32>
  // CHECK-NEXT: stablehlo.slice %[[M]] [0:7, 0:2]
  // WHOLE: sdy.reshard %arg0 <@mesh, [{}, {}]>
  %0 = stablehlo.slice %arg0 [1:8, 1:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x3xi32>) -> tensor<7x2xi32>
  return %0 : tensor<7x2xi32>
}

func.func @other(%arg0: tensor<8xi32>) -> tensor<8xi32> {
  %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK-LABEL: func.func @strided(
func.func @strided(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xi32> {
  // CHECK-NEXT: %[[W:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.slice %[[W]] [0:8:2] {{.*}}<@mesh, [{}]>
  // CHECK-NEXT: sdy.reshard %[[S]] <@mesh, [{"x"}]>
  %0 = stablehlo.slice %arg0 [0:8:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Who has no neighbour gets zeros, not sevens.
// CHECK-LABEL: func.func @filled(
func.func @filled(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<9xi32> {
  // CHECK: sdy.reshard %arg0 <@mesh, [{}]>
  %c = stablehlo.constant dense<7> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [1], high = [0], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xi32>, tensor<i32>) -> tensor<9xi32>
  return %0 : tensor<9xi32>
}

// As many elements as before, and each of them elsewhere.
// CHECK-LABEL: func.func @moved(
func.func @moved(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xi32> {
  // CHECK: "stablehlo.collective_permute"(%arg1) {{.*}} dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %arg0, %c, low = [1], high = [-1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// Each shard has what it needs, but not at its beginning.
// CHECK-LABEL: func.func @within(
func.func @within(%arg0: tensor<6xi32> {sdy.sharding = #sdy.sharding<@pair, [{"y"}]>}) -> tensor<2xi32> {
  // CHECK-NOT: stablehlo.collective_permute
  // CHECK: stablehlo.dynamic_slice {{.*}} sizes = [1]
  %0 = stablehlo.slice %arg0 [2:4] {sdy.sharding = #sdy.sharding_per_value<[<@pair, [{"y"}]>]>} : (tensor<6xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// Too wide a gap between elements to reckon with.
// CHECK-LABEL: func.func @wide(
func.func @wide(%arg0: tensor<1x4xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<2x4xi8> {
  // CHECK: sdy.reshard %arg0 <@mesh, [{}, {}]>
  %c = stablehlo.constant dense<0> : tensor<i8>
  %0 = stablehlo.pad %arg0, %c, low = [-9000000000, 0], high = [9000000001, 0], interior = [9223372036854775807, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<1x4xi8>, tensor<i8>) -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}

// -----

// A second reverse finds the mesh of the first.
// CHECK-DAG: sdy.mesh @order_reversed = <["x"=2, "y"=2], device_ids=[1, 0, 3, 2]>
// CHECK-NOT: order_reversed_0
sdy.mesh @order = <["x"=2, "y"=2], device_ids=[2, 3, 0, 1]>
// CHECK-LABEL: func.func @reverse(
func.func @reverse(%arg0: tensor<7xi32> {sdy.sharding = #sdy.sharding<@order, [{"x", "y"}]>}) -> tensor<7xi32> {
  // CHECK: stablehlo.pad %arg0, {{.*}} high = [1]
  // CHECK: "stablehlo.collective_permute"(%arg1) {{.*}} dense<{{\[\[}}2, 3], [3, 0], [0, 1]]>
  // CHECK: stablehlo.reverse {{.*}}<@order_reversed, [{"x", "y"}]>
  // CHECK-NEXT: sdy.reshard {{.*}} <@order, [{"x", "y"}]>
  // CHECK-NEXT: stablehlo.slice {{.*}} [0:7]
  // CHECK: stablehlo.pad
  %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@order, [{"x", "y"}]>]>} : tensor<7xi32>
  %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@order, [{"x", "y"}]>]>} : tensor<7xi32>
  return %1 : tensor<7xi32>
}

// -----

sdy.mesh @mesh = <["x"=6]>
// CHECK-LABEL: func.func @split(
func.func @split(%arg0: tensor<14xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2x7xi32> {
  // CHECK: stablehlo.constant dense<[6, 6, 6, 4, 4, 4]> : tensor<6xi64>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<3xi32>) -> tensor<1x3xi32>
  // WHOLE: sdy.reshard %arg0 <@mesh, [{}]>
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"x":(2)3}]>]>} : (tensor<14xi32>) -> tensor<2x7xi32>
  return %0 : tensor<2x7xi32>
}

// -----

sdy.mesh @mesh = <["x"=6]>
func.func @apart(%arg0: tensor<14xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2x7xi32> {
  // expected-error @+1 {{'stablehlo.reshape' op has operand and result that are sharded along different axes}}
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x":(2)3}]>]>} : (tensor<14xi32>) -> tensor<2x7xi32>
  return %0 : tensor<2x7xi32>
}

// -----

// Devices that were reversed are in order again: that mesh needs no list of them, and may be there.
// CHECK-NOT: sdy.mesh @back_reversed
sdy.mesh @back = <["x"=2], device_ids=[1, 0]>
sdy.mesh @forth = <["x"=2]>
// CHECK-LABEL: func.func @ordered(
func.func @ordered(%arg0: tensor<4xi32> {sdy.sharding = #sdy.sharding<@back, [{"x"}]>}) -> tensor<4xi32> {
  // CHECK: stablehlo.reverse {{.*}}<@forth, [{"x"}]>
  %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@back, [{"x"}]>]>} : tensor<4xi32>
  return %0 : tensor<4xi32>
}
