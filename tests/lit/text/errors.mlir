// What is wrong, in MLIR's words, at its line and column.
// RUN: not terrazzo opt -split-input-file %s 2>&1 | FileCheck %s

// CHECK: :[[#@LINE+2]]:10: error: use of undeclared SSA value name
func.func @undeclared() -> i32 {
  return %b : i32
}

// -----

// CHECK: error: use of value '%a' expects different type than prior uses: 'i64' vs 'i32'
// CHECK: note: prior use here
func.func @types(%a: i32) -> i64 {
  return %a : i64
}

// -----

// CHECK: error: custom op 'stablehlo.gather' has no custom assembly form
func.func @form(%a: tensor<4xf32>) {
  stablehlo.gather %a : tensor<4xf32>
}

// -----

// CHECK: error: operation being parsed with an unregistered dialect
"a.b"() : () -> ()

// -----

// CHECK: error: inferred shape of elements literal ([2]) does not match type ([3])
%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi8>

// -----

// CHECK: error: expecting priority in format 'p<number>', got: q1
sdy.mesh @mesh = <["x"=2]>
func.func @priority(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}q1]>}) {
  return
}

// -----

// CHECK: error: priorities with leading zeros are not allowed, got: p01
sdy.mesh @mesh = <["x"=2]>
func.func @zeros(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p01]>}) {
  return
}

// -----

// CHECK: :29: error: expected '}' in attribute dictionary
module attributes {a.b = 1.5e+} {}

// -----

// CHECK: error: region entry argument '%a' is already in use
func.func @twice(%a: i32, %a: i32) {
  return
}

// -----

// CHECK: error: expected ':'
func.func @colon(%a: i32) {
  return %a i32
}
