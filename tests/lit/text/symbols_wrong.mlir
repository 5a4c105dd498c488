// Attributes and types of dialects that are unknown, or that have none.
// RUN: not terrazzo opt %s -split-input-file 2>&1 | FileCheck %s

// CHECK: :[[# @LINE+1]]:26: error: #"foo"<"bar"> : 'none' attribute created with unregistered dialect. If this is intended, please call allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect with the MLIR opt tool used
module attributes {t.a = #foo<bar>} {}

// -----

// CHECK: :[[# @LINE+1]]:31: error: #"foo"<"x<bar>"> : 'i32' attribute created with unregistered dialect.
module attributes {t.a = #foo.x<bar> : i32} {}

// -----

// CHECK: :[[# @LINE+1]]:31: error: `!"foo"<"x<bar>">` type created with unregistered dialect.
module attributes {t.a = !foo.x<bar>} {}

// -----

// CHECK: :[[# @LINE+1]]:26: error: invalid dialect namespace '"foo-x"'
module attributes {t.a = #foo-x<bar>} {}

// -----

// CHECK: :[[# @LINE+1]]:33: error: invalid dialect namespace '"foo-x"'
module attributes {t.a = !foo-x.bar} {}

// -----

// CHECK: :[[# @LINE+1]]:28: error: invalid dialect namespace '""'
module attributes {t.a = #..x} {}

// -----

// CHECK: :[[# @LINE+1]]:28: error: invalid dialect namespace '""'
module attributes {t.a = !.foo<x>} {}

// -----

// CHECK: :[[# @LINE+1]]:29: error: invalid dialect namespace '"$"'
module attributes {t.a = !$.x} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: dialect 'func' provides no attribute parsing hook
module attributes {t.a = #func<x<y>>} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: dialect 'chlo' provides no type parsing hook
module attributes {t.a = !chlo<x>} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: unknown stablehlo type: x
module attributes {t.a = !stablehlo<x>} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: unknown StableHLO attribute
module attributes {t.a = #stablehlo<x>} {}

// -----

// CHECK: :[[# @LINE+1]]:37: error: expected valid keyword
module attributes {t.a = #stablehlo.} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: unknown chlo attribute
module attributes {t.a = #chlo.x} {}

// -----

// CHECK: :[[# @LINE+1]]:32: error: unbalanced '(' character in pretty dialect name
module attributes {t.a = #foo.x<(bar]> : i32} {}

// -----

// CHECK: :[[# @LINE+1]]:30: error: unbalanced '<' character in pretty dialect name
module attributes {t.a = !foo<<bar]>} {}

// -----

// CHECK: :[[# @LINE+1]]:35: error: expected non-function type
module attributes {t.a = #foo<x> : zz} {}
