// Attributes and types of dialects that nobody knows are kept as text, in MLIR's spelling.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s
// RUN: terrazzo opt -allow-unregistered-dialect %s --emit-bytecode | terrazzo opt -allow-unregistered-dialect | FileCheck %s

// CHECK: a = #foo<<x>>, b = #foo<-x<y>>, c = #foo<x$y>, d = #foo<1>, e = #foo<.x>,
// CHECK-SAME: f = #foo.x<"](\22", (->)>, g = #foo.x : i32, h = [#foo.y<z> : f32], i = #foo.none,
// CHECK-SAME: j = #stablehlo<precision HIGH>, k = #stablehlo.bounds<4>, l = "text", m = !foo<<x>>,
// CHECK-SAME: n = !foo.x<y>, o = !foo<x-y>, p = !stablehlo.token, q = #arith.fastmath<none>}
"a.b"() {a = #foo.<x>, b = #foo.-x<y>, c = #foo.x$y, d = #foo.1, e = #foo..x,
         f = #foo.x<"](\22", (->)>, g = #foo.x : i32, h = [#foo<y<z>> : f32], i = #foo.none : none,
         j = #stablehlo<precision HIGH> : i32, k = #stablehlo.bounds<4> : i32, l = "text" : none,
         m = !foo.<x>, n = !foo<x<y>>, o = !foo.x-y, p = !stablehlo<token>,
         q = #arith.fastmath<none>} : () -> ()

// One that ends behind its last bracket stays in brackets of its own.
// CHECK: "a.c"() {a = #foo<x<y>z>, b = !foo<x<y>z>}
"a.c"() {a = #foo<x<y>z>, b = !foo<x<y>z>} : () -> ()

// One that ends in a dash stays without brackets, which an arrow would not close; MLIR prints some.
// CHECK: "a.d"() {a = #foo.x-, b = !foo.-}
"a.d"() {a = #foo.x-, b = !foo.-} : () -> ()
