// RUN: stablehlo-opt %s -verify-diagnostics -split-input-file

// What is read, verified and printed and no more: an error of each.

// dynamic_iota_c1
func.func @f(%n: tensor<1xi64>) -> tensor<?xf32> {
  // expected-error@+1 {{iota dimension cannot go beyond the output rank.}}
  %0 = stablehlo.dynamic_iota %n, dim = 1 : (tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// dynamic_reshape_c4
func.func @f(%a: tensor<?xf32>) -> tensor<2x5xf32> {
  %n = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  // expected-error@+1 {{output shape [2, 4] is incompatible with return type of operation 'tensor<2x5xf32>'}}
  %0 = stablehlo.dynamic_reshape %a, %n : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// dynamic_broadcast_in_dim_c8
func.func @f(%a: tensor<?xf32>, %n: tensor<2xi32>) -> tensor<?x?xf32> {
  // expected-error@+1 {{duplicate expansion hint for at least one operand dimension}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %n) {broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// dynamic_pad_c2
func.func @f(%a: tensor<?xf32>, %v: tensor<f32>, %n: tensor<2xi32>) -> tensor<?xf32> {
  // expected-error@+1 {{padding operands size (2) must match operand rank (1)}}
  %0 = stablehlo.dynamic_pad %a, %v, %n, %n, %n : (tensor<?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @f(%a: tensor<3x?xf32>, %n: tensor<1xi32>) -> tensor<?x?xf32> {
  // expected-error@+1 {{has mismatched number of operand rank (2) and start_indices size (1)}}
  %0 = stablehlo.real_dynamic_slice %a, %n, %n, %n : (tensor<3x?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// batch_norm_training_c1
func.func @f(%a: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex 2, and rank 2.}}
  %0:3 = "stablehlo.batch_norm_training"(%a, %s, %s) {epsilon = 0.5 : f32, feature_index = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

// cholesky_c3
func.func @f(%a: tensor<5x2x3xf32>) -> tensor<5x2x3xf32> {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{minor dimensions of 'a' must have equal size, got shape 5, 2, 3.}}
  %0 = stablehlo.cholesky %a : tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}

// -----

// fft_c5
func.func @f(%a: tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>> {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{RFFT requires innermost dimensions to be compatible with fft_length. Got: 3, 8 but wanted 9.}}
  %0 = stablehlo.fft %a, type = RFFT, length = [9] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  return %0 : tensor<3x5xcomplex<f32>>
}

// -----

// map_c3
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{requires monotonically increasing dimension numbers, but got: 1}}
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// select_and_scatter_c9
func.func @f(%a: tensor<4xf32>, %s: tensor<2xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{expects the return-type of select-region to be tensor<i1>, but got: 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%a, %s, %v) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// send_c1
func.func @f(%t: !stablehlo.token) -> !stablehlo.token {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{channel_type should be DEVICE_TO_HOST when is_host_transfer is true}}
  %0 = "stablehlo.send"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true} : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

// infeed_c3
func.func @f(%t: !stablehlo.token) {
  // expected-error@+1 {{last element of result types is expected to be of token type, but got 'tensor<2xi32>'}}
  %0 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> tensor<2xi32>
  return
}

// -----

// get_tuple_element_c1
func.func @f(%t: tuple<tensor<f32>>) -> tensor<f32> {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{index 1 is out of bounds of operand with size 1}}
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{region must contain a collective or slice operation}}
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = stablehlo.abs %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

// expected-error@+1 {{future element type must be a ranked tensor, but got 'i8'}}
func.func private @f() -> !stablehlo.future<i8>

// -----

func.func @f(%a: tensor<4xf32>, %r: tensor<2xi32>) -> tensor<4xf32> {
  // expected-error@+1 {{last operand of collective_broadcast with has_dynamic_root=true must have the same number of elements as data operands (1), but got 2}}
  %0 = "stablehlo.collective_broadcast"(%a, %r) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{replica_groups: mesh symbol 'nowhere' not found}}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @nowhere, axes = [#stablehlo.axis_ref<name = "x">]>} : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// bounds: the least and the most that is known
func.func @f(%p: tensor<i1>, %a: tensor<?xf32, #stablehlo.bounds<5>>, %b: tensor<?xf32, #stablehlo.bounds<3>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<?xf32, #stablehlo.bounds<3>>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = "stablehlo.select"(%p, %a, %b) : (tensor<i1>, tensor<?xf32, #stablehlo.bounds<5>>, tensor<?xf32, #stablehlo.bounds<3>>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{requires attribute 'lower'}}
  %0 = "stablehlo.triangular_solve"(%a, %a) {left_side = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<2xi32>'}}
  %0 = "stablehlo.cosine"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
