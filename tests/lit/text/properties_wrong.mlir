// RUN: terrazzo opt -split-input-file -verify-diagnostics %s

// Attributes of the generic form are looked at before the op is made; the first by name.
func.func @two() {
  // expected-error @+1 {{'stablehlo.pad' op attribute 'edge_padding_high' failed to satisfy constraint: i64 dense array attribute}}
  %0 = "stablehlo.pad"() {edge_padding_low = 1, edge_padding_high = 2} : () -> tensor<f32>
}

// -----

func.func @before_the_op_around(%a: tensor<2xf32>) {
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<2xf32>):
    // expected-error @+1 {{'stablehlo.iota' op attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
    %1 = "stablehlo.iota"() {iota_dimension = -1 : i64} : () -> tensor<4xi32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

func.func @not_what_the_slot_stores() {
  // expected-error @+1 {{invalid properties {iota_dimension = "x"} for op stablehlo.iota: Invalid attribute `iota_dimension` in property conversion: "x"}}
  %0 = "stablehlo.iota"() <{iota_dimension = "x"}> : () -> tensor<4xi32>
}

// -----

func.func @stored_but_wrong() {
  // expected-error @+1 {{'stablehlo.iota' op attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i32}> : () -> tensor<4xi32>
  return
}

// -----

func.func @no_dictionary() {
  // expected-error @+1 {{invalid properties 1 : i64 for op stablehlo.iota: expected DictionaryAttr to set properties}}
  %0 = "stablehlo.iota"() <1> : () -> tensor<4xi32>
}

// -----

func.func @none(%a: tensor<2xf32>) {
  // expected-error @+1 {{invalid properties {} for op stablehlo.abs: this operation has empty properties}}
  %0 = "stablehlo.abs"(%a) <{}> : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

func.func @custom(%a: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.exponential' 'stablehlo.exponential' op attribute 'result_accuracy' failed to satisfy constraint: The requested accuracy for transcendental unary ops.}}
  %0 = stablehlo.exponential %a {result_accuracy = 1 : i32} : tensor<2xf32>
}

// -----

func.func @unit_is_no_bool(%a: tensor<2x2xf32>) {
  // expected-error @+1 {{'stablehlo.cholesky' op attribute 'lower' failed to satisfy constraint: bool attribute}}
  %0 = "stablehlo.cholesky"(%a) {lower} : (tensor<2x2xf32>) -> tensor<2x2xf32>
}

// -----

// expected-error @+1 {{'func.func' op attribute 'arg_attrs' failed to satisfy constraint: Array of dictionary attributes}}
"func.func"() ({}) {sym_name = "f", function_type = (i32) -> (), arg_attrs = [1]} : () -> ()

// -----

// expected-error @+1 {{'func.func' op expects argument attribute array to have the same number of elements as the number of function arguments, got 1, but expected 0}}
"func.func"() ({}) {sym_name = "f", function_type = () -> (), arg_attrs = [{}]} : () -> ()

// -----

// expected-error @+1 {{'func.func' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"func.func"() ({}) {sym_name = "f", function_type = i32} : () -> ()

// -----

// expected-error @+1 {{'sdy.mesh' op attribute 'mesh' failed to satisfy constraint: Mesh of axes and a list of devices}}
"sdy.mesh"() {sym_name = "m", mesh = 1} : () -> ()

// -----

// expected-error @+1 {{'builtin.module' op requires one region}}
"builtin.module"() : () -> ()

// -----

// expected-error @+1 {{'builtin.module' op region should have no arguments}}
"builtin.module"() ({
^bb0(%a: i32):
}) : () -> ()

// -----

module {
  // expected-error @+1 {{'builtin.module' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks}}
  "builtin.module"() ({}) : () -> ()
}

// -----

// expected-error @+1 {{'builtin.module' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks}}
"builtin.module"() ({}) : () -> ()

// -----

// expected-error @+1 {{'builtin.module' op expects region #0 to have 0 or 1 blocks}}
"builtin.module"() ({
^bb0:
^bb1:
}) : () -> ()

// -----

func.func @nothing_to_name() {
  // expected-error @+1 {{cannot name an operation with no results}}
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> ()
}
