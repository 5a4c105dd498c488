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
