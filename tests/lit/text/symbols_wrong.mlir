// Attributes and types of dialects that are unknown, or that have none.
// RUN: not terrazzo opt %s -split-input-file 2>&1 | FileCheck %s

// CHECK: :5:26: error: #"foo"<"bar"> : 'none' attribute created with unregistered dialect. If this is intended, please call allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect with the MLIR opt tool used
module attributes {t.a = #foo<bar>} {}

// -----

// CHECK: :3:31: error: #"foo"<"x<bar>"> : 'i32' attribute created with unregistered dialect.
module attributes {t.a = #foo.x<bar> : i32} {}

// -----

// CHECK: :3:31: error: `!"foo"<"x<bar>">` type created with unregistered dialect.
module attributes {t.a = !foo.x<bar>} {}

// -----

// CHECK: :3:26: error: invalid dialect namespace '"foo-x"'
module attributes {t.a = #foo-x<bar>} {}

// -----

// CHECK: :3:33: error: invalid dialect namespace '"foo-x"'
module attributes {t.a = !foo-x.bar} {}

// -----

// CHECK: :3:28: error: invalid dialect namespace '""'
module attributes {t.a = #..x} {}

// -----

// CHECK: :3:28: error: invalid dialect namespace '""'
module attributes {t.a = !.foo<x>} {}

// -----

// CHECK: :3:29: error: invalid dialect namespace '"$"'
module attributes {t.a = !$.x} {}

// -----

// CHECK: :3:32: error: dialect 'func' provides no attribute parsing hook
module attributes {t.a = #func<x<y>>} {}

// -----

// CHECK: :3:32: error: dialect 'chlo' provides no type parsing hook
module attributes {t.a = !chlo<x>} {}

// -----

// CHECK: :3:37: error: unknown stablehlo type: x
module attributes {t.a = !stablehlo<x>} {}

// -----

// CHECK: :3:37: error: unknown StableHLO attribute
module attributes {t.a = #stablehlo<x>} {}

// -----

// CHECK: :3:37: error: expected valid keyword
module attributes {t.a = #stablehlo.} {}

// -----

// CHECK: :3:32: error: unknown chlo attribute
module attributes {t.a = #chlo.x} {}

// -----

// CHECK: :3:32: error: unbalanced '(' character in pretty dialect name
module attributes {t.a = #foo.x<(bar]> : i32} {}

// -----

// CHECK: :3:30: error: unbalanced '<' character in pretty dialect name
module attributes {t.a = !foo<<bar]>} {}

// -----

// CHECK: :3:35: error: expected non-function type
module attributes {t.a = #foo<x> : zz} {}
