// What cannot be right on shards as it stands: an error each, where Shardy's pass may end the process.
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics -sdy-convert-global-to-local

sdy.mesh @m = <["x"=2]>
func.func @sum(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  // expected-error @+1 {{is sharded along what it sums up, and no sdy.all_reduce follows}}
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @padded(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  // expected-error @+1 {{dimension 1 is padded by what requires device communication}}
  %0 = stablehlo.pad %arg0, %cst, low = [0, 0], high = [0, 2], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {"x"}]>]>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @slice(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  // expected-error @+2 {{dimension 0 is sharded but the slice is not a full slice and requires device communication.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.slice' that was explicitly marked illegal}}
  %0 = stablehlo.slice %arg0 [0:4] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @window(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // expected-error @+1 {{dimension 0 is sharded but is not a pass-through dimension.}}
  %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @scatter(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %arg1: tensor<1xi32>, %arg2: tensor<3xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  // expected-error @+1 {{has windows across shards of dimension 0}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg4 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<8xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @gather(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %arg1: tensor<1xi32>) -> tensor<3xf32> {
  // expected-error @+1 {{takes parts of dimension 0, which is sharded}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 3>}> : (tensor<8xf32>, tensor<1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @reshard(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{should have been resolved before converting to local types}}
  %0 = sdy.reshard %arg0 <@m, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Every fourth of 14 elements: the second shard would begin with the third of its own.
sdy.mesh @m = <["x"=2]>
func.func @stride(%arg0: tensor<14xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
  // expected-error @+2 {{dimension 0 is sharded but the slice is not a full slice and requires device communication.}}
  // expected-error @+1 {{failed to legalize operation 'stablehlo.slice' that was explicitly marked illegal}}
  %0 = stablehlo.slice %arg0 [0:14:4] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : (tensor<14xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
