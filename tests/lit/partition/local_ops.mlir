// Ops that Shardy's pass makes something else of: where numbers of a narrow type would not do, wider
// ones are used; windows that have the whole of a sharded dimension keep their indices.
// RUN: terrazzo opt %s -sdy-convert-global-to-local | FileCheck %s

sdy.mesh @m = <["x"=2, "y"=2]>

// 300 does not fit i8; rows are sharded, columns are taken whole.
// CHECK-LABEL: @narrow_gather
// CHECK: %[[I:.*]] = stablehlo.convert %arg1 : (tensor<4xi8>) -> tensor<4xi64>
// CHECK: %[[LAST:.*]] = stablehlo.constant dense<299> : tensor<4xi64>
// CHECK: stablehlo.clamp {{.*}}, %[[I]], %[[LAST]]
// CHECK: stablehlo.constant dense<[0, 0, 150, 150]> : tensor<4xi64>
// CHECK: "stablehlo.gather"(%arg0, {{.*}}slice_sizes = array<i64: 1, 3>{{.*}} : (tensor<150x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
// CHECK: stablehlo.select
// CHECK: "stablehlo.all_reduce"
func.func @narrow_gather(%arg0: tensor<300x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %arg1: tensor<4xi8>) -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"y"}]>}) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"y"}]>]>} : (tensor<300x6xf32>, tensor<4xi8>) -> tensor<4x6xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@m, [{}, {"y"}]> : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// bf16 has no 1001.
// CHECK-LABEL: @exact_iota
// CHECK: stablehlo.iota dim = 0 : tensor<1000xi32>
// CHECK: stablehlo.add {{.*}} : tensor<1000xi32>
// CHECK: stablehlo.convert {{.*}} : (tensor<1000xi32>) -> tensor<1000xbf16>
// CHECK: stablehlo.iota dim = 0 : tensor<64xbf16>
// CHECK: stablehlo.add {{.*}} : tensor<64xbf16>
func.func @exact_iota() -> (tensor<2000xbf16> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, tensor<128xbf16> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<2000xbf16>
  %1 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<128xbf16>
  return %0, %1 : tensor<2000xbf16>, tensor<128xbf16>
}

// Updates on several devices: those that are not first start from what changes nothing.
// CHECK-LABEL: @shared_scatter
// CHECK: %[[NONE:.*]] = stablehlo.constant dense<0> : tensor<ui32>
// CHECK: stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
// CHECK: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[NONE]], dims = [] : (tensor<ui32>) -> tensor<4x2xui32>
// CHECK: %[[FROM:.*]] = stablehlo.select {{.*}}, %arg0, %[[ALL]]
// CHECK: stablehlo.subtract %arg1
// CHECK: "stablehlo.scatter"(%[[FROM]],
func.func @shared_scatter(%arg0: tensor<8x2xui32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %arg1: tensor<6x1xi32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}, %arg2: tensor<6x2xui32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) -> (tensor<8x2xui32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%arg3: tensor<ui32>, %arg4: tensor<ui32>):
    %2 = stablehlo.maximum %arg3, %arg4 : tensor<ui32>
    stablehlo.return %2 : tensor<ui32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : (tensor<8x2xui32>, tensor<6x1xi32>, tensor<6x2xui32>) -> tensor<8x2xui32>
  %1 = sdy.all_reduce max {"y"} %0 out_sharding=<@m, [{"x"}, {}]> : tensor<8x2xui32>
  return %1 : tensor<8x2xui32>
}

// CHECK-LABEL: @whole_windows
// CHECK-NEXT: "stablehlo.scatter"(%arg0, %arg1, %arg2)
func.func @whole_windows(%arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %arg1: tensor<3x2xi32>, %arg2: tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg4 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"x"}]>]>} : (tensor<4x2xf32>, tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// Shards begin at another place along both dimensions: one number of the device serves both.
// CHECK-LABEL: @shifted_pad
// CHECK: stablehlo.pad %arg0, {{.*}}, low = [2, 0], high = [2, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<6x3xf32>
// CHECK: %[[ID:.*]] = stablehlo.convert
// CHECK: %[[ROWS:.*]] = stablehlo.constant dense<[0, 0, 2, 2]> : tensor<4xi64>
// CHECK: stablehlo.dynamic_slice %[[ROWS]], %[[ID]]
// CHECK: %[[COLS:.*]] = stablehlo.constant dense<[1, 0, 1, 0]> : tensor<4xi64>
// CHECK: stablehlo.dynamic_slice %[[COLS]], %[[ID]]
// CHECK: stablehlo.dynamic_slice {{.*}}, sizes = [4, 2]
func.func @shifted_pad(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.pad %arg0, %cst, low = [2, -1], high = [2, -1], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>]>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Calls take what is local too.
// CHECK-LABEL: func.func private @double(%arg0: tensor<2xf32>
// CHECK-LABEL: @calls
// CHECK: call @double(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
func.func private @double(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @calls(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %0 = call @double(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A reversal is of shards that lie in reverse order already.
// CHECK-LABEL: @reversed
// CHECK-NEXT: stablehlo.reverse %arg0, dims = [0] {{.*}} : tensor<2xf32>
func.func @reversed(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
