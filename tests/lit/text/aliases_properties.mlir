// What only the properties of an op without a row hold gets no alias; what has one, keeps it.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 + 1)>
// CHECK-NEXT: {{^}}module {
// CHECK-NEXT: "t.a"() <{a = affine_map<(d0) -> (d0)>, b = #map, c = loc("f")}> {b = #map} : () -> ()
"t.a"() <{a = affine_map<(d0) -> (d0)>, b = affine_map<(d0) -> (d0 + 1)>, c = loc("f")}>
    {b = affine_map<(d0) -> (d0 + 1)>} : () -> ()
