// What is missing, where, and in whose words.
// RUN: terrazzo opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{unbalanced '[' character in pretty dialect name}}
module attributes {t.a = #sdy.sharding<@mesh, [{}>} {}

// -----

// expected-error@+1 {{unknown attribute `shard` in dialect `sdy`}}
module attributes {t.a = #sdy.shard<@mesh>} {}

// -----

// expected-error@+1 {{undefined symbol alias id 'nothing'}}
module attributes {t.a = #nothing} {}

// -----

// expected-error@+1 {{expected '}' in attribute dictionary}}
module attributes {t.a = 1 : i64 2} {}

// -----

// expected-error@+1 {{expected ',' or ']'}}
module attributes {t.a = [1 2]} {}

// -----

// expected-error@+1 {{expected three consecutive dots for an ellipsis}}
module attributes {t.a = ..} {}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.broadcast_in_dim' expected 'dims'}}
  %0 = stablehlo.broadcast_in_dim %a, axes = [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+2 {{custom op 'stablehlo.dot_general' expected ::mlir::stablehlo::Precision to be one of: DEFAULT, HIGH, HIGHEST}}
  // expected-error@+1 {{custom op 'stablehlo.dot_general' failed to parse StableHLO_PrecisionAttr parameter 'value' which is to be a `::mlir::stablehlo::Precision`}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision = [LOW] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+2 {{Dialect `nowhere' not found for custom op 'nowhere.op'}}
  // expected-note@+1 {{Available dialects: }}
  nowhere.op %a
  return
}

// -----

// expected-error@+1 {{custom op 'func.func' expected SSA identifier}}
func.func @main(%a: tensor<4xf32>, tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{arguments may only have dialect attributes}}
func.func @main(%a: tensor<4xf32> {name = "a"}) {
  return
}

// -----

// expected-error@+1 {{can only contain attributes with dialect-prefixed names, found: 'a'}}
module attributes {a = 1} {}

// -----

func.func @main(%a: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%c) ({
    %1 = stablehlo.abs %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  // expected-error@+1 {{use of undeclared SSA value name}}
  %2 = stablehlo.abs %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 does not dominate this use}}
  %0 = stablehlo.abs %1 : tensor<4xf32>
  // expected-note@+1 {{operand defined here (op in the same block)}}
  %1 = stablehlo.abs %a : tensor<4xf32>
  return
}
