// Functions, calls, symbols, attributes.
// RUN: terrazzo opt %s -verify-diagnostics -split-input-file

func.func @main(%a: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{type of return operand 0 ('tensor<4xf32>') doesn't match function result type ('tensor<5xf32>') in function @main}}
  return %a : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 0 operands, but enclosing function (@main) returns 1}}
  return
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'f' does not reference a valid function}}
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @main(%a: tensor<5xf32>) {
  // expected-error@+1 {{operand type mismatch: expected operand type 'tensor<4xf32>', but provided 'tensor<5xf32>' for operand number 0}}
  %0 = call @f(%a) : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @main() {
  // expected-error@+1 {{incorrect number of operands for callee}}
  %0 = call @f() : () -> tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{see existing symbol definition here}}
func.func @main() {
  return
}
// expected-error@+1 {{redefinition of symbol named 'main'}}
func.func @main() {
  return
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{requires attribute 'permutation'}}
  %0 = "stablehlo.transpose"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{attribute 'permutation' failed to satisfy constraint: i64 dense array attribute}}
  %0 = "stablehlo.transpose"(%a) {permutation = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{name must be a valid namespaced op name}}
  %0 = stablehlo.composite "noname" %a {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{incorrect layout}}
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "f", operand_layouts = [dense<[0, 2]> : tensor<2xindex>], result_layouts = [dense<[0]> : tensor<1xindex>]} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter_without_inputs(%a: tensor<3xf32>, %b: tensor<2xi64>) {
  // expected-error @+1 {{'stablehlo.scatter' op operand #0 must be ranked tensor of integer or index values, but got 'tensor<3xf32>'}}
  %0 = "stablehlo.scatter"(%a, %b) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<scatter_dims_to_operand_dims = [0], index_vector_dim = 0>} : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @reduce_without_inputs(%a: tensor<2xf32>) {
  // expected-error @+1 {{Out-of-bounds dimension 0, expected to be in range [0, 0)}}
  %0 = "stablehlo.reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @and_of_another_type(%a: tensor<2xi1>) {
  // expected-error @+1 {{'stablehlo.and' op requires compatible types for all operands and results}}
  %0 = "stablehlo.and"(%a, %a) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op visibility expected to be one of ["public", "private", "nested"], but got "hidden"}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "hidden"}> ({
}) : () -> ()

// -----

module attributes {sym_visibility = "hidden"} {} // no symbol without a name

// -----

// expected-error @+1 {{invalid memref element type}}
func.func private @of_memref(memref<2x!stablehlo.token>)

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{must be the last operation in the parent block}}
  "func.return"() : () -> ()
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return
}
