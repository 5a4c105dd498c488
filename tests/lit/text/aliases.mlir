// Attributes with names of their own.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace --match-full-lines
// RUN: terrazzo opt -allow-unregistered-dialect -mlir-print-local-scope %s | FileCheck %s --check-prefix=LOCAL

//      CHECK:#distinct = distinct[0]<"x">
// CHECK-NEXT:#loc = loc("a.py":1:2)
// CHECK-NEXT:#map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-NEXT:#map1 = affine_map<(d0) -> (d0 + 1)>
// CHECK-NEXT:#sparse = #sparse_tensor.encoding<{ map = (d0) -> (d0 : dense) }>
// CHECK-NEXT:#loc1 = loc("f"(#loc))
// CHECK-NEXT:module attributes {t.a = #map, t.b = #map1, t.c = #map} {
// CHECK-NEXT:  "a.b"() {a = #loc1, b = #distinct, c = distinct[1]<>, d = #distinct, e = memref<2xf32, #map1>, f = tensor<3xf32, #sparse>} : () -> ()
// CHECK-NEXT:}
// LOCAL: t.a = affine_map<(d0, d1) -> (d1, d0)>
#sp = #sparse_tensor.encoding<{
  map = (d0) -> (d0 : dense)
}>
module attributes {t.a = affine_map<(d0, d1) -> (d1, d0)>, t.b = affine_map<(d0) -> (d0 + 1)>, t.c = affine_map<(d0, d1) -> (d1, d0)>} {
  "a.b"() {a = loc("f"("a.py":1:2)), b = distinct[4]<"x">, c = distinct[2]<>, d = distinct[4]<"x">,
           e = memref<2xf32, affine_map<(d0) -> (d0 + 1)>>, f = tensor<3xf32, #sp>} : () -> ()
}
