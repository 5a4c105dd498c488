// Elementwise ops and ops that move elements: what their verifiers say.
// RUN: terrazzo opt %s -verify-diagnostics -split-input-file

func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x9xf32>) {
  // expected-error@+1 {{requires compatible types for all operands and results}}
  %0 = "stablehlo.multiply"(%a, %b) : (tensor<4x8xf32>, tensor<4x9xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = stablehlo.sine %a : tensor<4xi32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = stablehlo.not %a : tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be}}
  %0 = stablehlo.shift_left %a, %b : tensor<4xf32>
  return
}

// -----

func.func @main(%p: tensor<3xi1>, %a: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{requires the same shape for all operands}}
  %0 = "stablehlo.select"(%p, %a, %a) : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%p: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{requires compatible types for non-predicate operands}}
  %0 = "stablehlo.select"(%p, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %m: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{min shape [2] is not scalar and is not compatible to operand shape [4]}}
  %0 = "stablehlo.clamp"(%m, %a, %a) : (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main() {
  // expected-error@+1 {{iota dimension cannot go beyond the output rank}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}

// -----

func.func @main() {
  // expected-error@+1 {{does not support scalars}}
  %0 = stablehlo.iota dim = 0 : tensor<i32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{rank of smaller element type (1) should be 1 more than rank of larger element type (1), but 1 != 1 + 1}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{cannot convert between real and complex types}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{broadcast_dimensions size (2) does not match operand rank (1)}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{broadcast_dimensions contains invalid value 2 for result with rank 2}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<1x1xf32>) {
  // expected-error@+1 {{broadcast_dimensions should not have duplicates}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 0] : (tensor<1x1xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{size of operand dimension 0 (4) is not equal to 1 or size of result dimension 1 (8)}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{number of output elements (31) doesn't match expected number of elements (32)}}
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<31xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{attribute permutation must be a permutation of [0, 1] but got 1, 1}}
  %0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<8x4xf32>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  %0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %b: tensor<3x9xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{shapes of operand (0) and (1) are not compatible at non-concat index}}
  %0 = "stablehlo.concatenate"(%a, %b) {dimension = 0 : i64} : (tensor<4x8xf32>, tensor<3x9xf32>) -> tensor<7x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{dimension 2 is out-of-bounds for input rank 2}}
  %0 = "stablehlo.concatenate"(%a, %a) {dimension = 2 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{limit index 9 is larger than dimension size 8 in dimension 1}}
  %0 = "stablehlo.slice"(%a) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 4, 9>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{stride must be positive but got 0 in dimension 0}}
  %0 = "stablehlo.slice"(%a) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 4, 8>, strides = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{start index 3 is larger than limit index 2 in dimension 0}}
  %0 = "stablehlo.slice"(%a) {start_indices = array<i64: 3, 0>, limit_indices = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has slice size 5 greater than dimension size 4 in dimension 0 of operand}}
  %0 = "stablehlo.dynamic_slice"(%a, %i, %i) {slice_sizes = array<i64: 5, 8>} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has mismatched number of slice sizes (2) and number of start indices (1)}}
  %0 = "stablehlo.dynamic_slice"(%a, %i) {slice_sizes = array<i64: 1, 8>} : (tensor<4x8xf32>, tensor<i32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %u: tensor<5x1xf32>, %i: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expects size at dimension 0 of update to be in range [0, 4]. Got: 5}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x8xf32>, tensor<5x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Interior padding cannot be negative: -1}}
  %0 = "stablehlo.pad"(%a, %v) {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, -1>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Padding result in negative size for dimension 0}}
  %0 = "stablehlo.pad"(%a, %v) {edge_padding_low = array<i64: -5, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{dimensions should be unique. Got: 0, 0}}
  %0 = stablehlo.reverse %a, dims = [0, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{all dimensions should be between [0, 2). Got dimension: 2}}
  %0 = stablehlo.reverse %a, dims = [2] : tensor<4x8xf32>
  return
}

// -----

func.func @main(%p: tensor<i1>, %a: tensor<5xf32>, %b: tensor<?xf32, #stablehlo.bounds<4>>) {
  // expected-error@+2 {{Mismatched dimension size 5 and bound 4 in dimension 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.select %p, %a, %b : (tensor<i1>, tensor<5xf32>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>
  return
}

// -----

func.func @main(%a: tensor<2x?x?xf32, #stablehlo.bounds<?, 3, 4>>) {
  // expected-error@+1 {{result #0 must be statically shaped or single bounded dimension tensor of}}
  %0 = "stablehlo.reshape"(%a) : (tensor<2x?x?xf32, #stablehlo.bounds<?, 3, 4>>) -> tensor<?x?xf32, #stablehlo.bounds<6, 4>>
  return
}
