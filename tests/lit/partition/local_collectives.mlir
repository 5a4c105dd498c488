// Collectives as Shardy's pass makes them: one for all dimensions, whose parts are put in place by
// reshapes and transposes, unless options say otherwise.
// RUN: terrazzo opt %s -sdy-convert-global-to-local | FileCheck %s --check-prefixes=CHECK,ONE,ALL
// RUN: terrazzo opt %s -sdy-convert-global-to-local="per-dim-all-gather combine-multi-dimension-reduce-scatter enable-rgv3" | FileCheck %s --check-prefixes=CHECK,DIM,RS

sdy.mesh @m = <["a"=2, "b"=3, "c"=2]>

// CHECK-LABEL: @gather(%arg0: tensor<2x5x1xf32>
// ONE: %0 = stablehlo.reshape %arg0 : (tensor<2x5x1xf32>) -> tensor<1x2x5x1xf32>
// ONE: %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]> : tensor<2x6xi64>, use_global_device_ids}>
// ONE: %2 = stablehlo.reshape %1 : (tensor<6x2x5x1xf32>) -> tensor<3x2x2x5x1xf32>
// ONE: %3 = stablehlo.transpose %2, dims = [0, 2, 3, 1, 4]
// ONE: %4 = stablehlo.reshape %3 : (tensor<3x2x5x2x1xf32>) -> tensor<6x5x2xf32>
// DIM: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 2 : i64, {{.*}}handle = 8, {{.*}}axes = [#stablehlo.axis_ref<name = "c">]>
// DIM: %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, {{.*}}handle = 9, {{.*}}<mesh = @m, axes = [#stablehlo.axis_ref<name = "b">]>
func.func @gather(%arg0: tensor<12x5x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"a", "b"}, {}, {"c"}]>}) -> (tensor<12x5x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}, {}]>}) {
  %0 = sdy.all_gather [{"b"}, {}, {"c"}] %arg0 out_sharding=<@m, [{"a"}, {}, {}]> : tensor<12x5x2xf32>
  return %0 : tensor<12x5x2xf32>
}

// Two moves of different sizes, given in the order of sources.
// CHECK-LABEL: @exchange(%arg0: tensor<4x2x6x2xf32>
// CHECK: stablehlo.reshape %arg0 : (tensor<4x2x6x2xf32>) -> tensor<2x2x2x3x2x2xf32>
// CHECK: stablehlo.transpose {{.*}}, dims = [0, 3, 1, 2, 4, 5]
// CHECK: stablehlo.reshape {{.*}} -> tensor<6x2x2x2x2xf32>
// CHECK: "stablehlo.all_to_all"{{.*}}concat_dimension = 0 : i64, {{.*}}split_count = 6 : i64, split_dimension = 0 : i64
// CHECK: stablehlo.reshape {{.*}} -> tensor<2x3x2x2x2x2xf32>
// CHECK: stablehlo.transpose {{.*}}, dims = [2, 1, 3, 4, 0, 5]
// CHECK: stablehlo.reshape {{.*}} : (tensor<2x3x2x2x2x2xf32>) -> tensor<2x6x2x4xf32>
func.func @exchange(%arg0: tensor<4x6x6x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"b"}, {}, {"a"}]>}) -> (tensor<4x6x6x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}, {"b"}, {}]>}) {
  %0 = sdy.all_to_all [{"b"}: 1->2, {"a"}: 3->0] %arg0 out_sharding=<@m, [{"a"}, {}, {"b"}, {}]> : tensor<4x6x6x4xf32>
  return %0 : tensor<4x6x6x4xf32>
}

// A dimension between that stays whole.
// CHECK-LABEL: @scatter(%arg0: tensor<6x5x4xf32>
// ALL: "stablehlo.all_reduce"(%arg0)
// ALL: %[[TABLE:.*]] = stablehlo.constant dense<[0, 0, 2, 2, 4, 4, 0, 0, 2, 2, 4, 4]> : tensor<12xi64>
// ALL: stablehlo.constant dense<0> : tensor<i64>
// ALL: stablehlo.constant dense<[0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2]> : tensor<12xi64>
// ALL: stablehlo.dynamic_slice {{.*}}, sizes = [2, 5, 2]
// RS: stablehlo.reshape %arg0 : (tensor<6x5x4xf32>) -> tensor<3x2x5x2x2xf32>
// RS: stablehlo.transpose {{.*}}, dims = [0, 3, 1, 2, 4]
// RS: stablehlo.reshape {{.*}} -> tensor<6x2x5x2xf32>
// RS: "stablehlo.reduce_scatter"{{.*}}<mesh = @m, axes = [#stablehlo.axis_ref<name = "b">, #stablehlo.axis_ref<name = "c">]>, scatter_dimension = 0 : i64
// RS: stablehlo.maximum
// RS: stablehlo.reshape {{.*}} : (tensor<1x2x5x2xf32>) -> tensor<2x5x2xf32>
func.func @scatter(%arg0: tensor<6x5x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}, {}]>}) -> (tensor<6x5x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}, {}, {"c"}]>}) {
  %0 = sdy.reduce_scatter max [{"b"}, {}, {"c"}] %arg0 out_sharding=<@m, [{"b"}, {}, {"c"}]> : tensor<6x5x4xf32>
  return %0 : tensor<6x5x4xf32>
}

// All devices are paired, also those that keep what they have; ids count, not places in the mesh.
sdy.mesh @p = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>
// CHECK-LABEL: @permute
// CHECK: source_target_pairs = dense<{{\[\[}}0, 0], [1, 2], [2, 1], [3, 3]]>
func.func @permute(%arg0: tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@p, [{"x"}, {"y"}]>}) -> (tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@p, [{"y"}, {"x"}]>}) {
  %0 = sdy.collective_permute %arg0 out_sharding=<@p, [{"y"}, {"x"}]> : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// A part of an axis has no name; and new channels come behind the program's own.
// CHECK-LABEL: @reduce
// CHECK: handle = 7, type = 0>
// DIM: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @q, axes = [#stablehlo.axis_ref<name = "z">]>
// CHECK: replica_groups = dense<{{\[\[}}0, 2], [1, 3]]> : tensor<2x2xi64>
sdy.mesh @q = <["z"=4]>
func.func @reduce(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %3 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sdy.all_reduce {"z"} %0 out_sharding=<@q, [{}]> : tensor<4xf32>
  %2 = sdy.all_reduce {"z":(1)2} %1 out_sharding=<@q, [{}]> : tensor<4xf32>
  return %2 : tensor<4xf32>
}
