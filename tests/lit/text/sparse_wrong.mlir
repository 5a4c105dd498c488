// RUN: terrazzo opt -allow-unregistered-dialect -split-input-file -verify-diagnostics %s
// expected-error@+1 {{sparse index #0 is not contained within the value shape, with index=[0, 5], and type='tensor<3x4xi32>'}}
"t.a"() {a = sparse<[[0, 5]], [1]> : tensor<3x4xi32>} : () -> ()
// -----
// expected-error@+1 {{sparse index #1 is not contained within the value shape, with index=[0, 18446744073709551615], and type='tensor<2x4xf32>'}}
"t.a"() {a = sparse<[[0, 1], [0, -1]], 1.0> : tensor<2x4xf32>} : () -> ()
// -----
// expected-error@+1 {{expected shape ([3, 4]); inferred shape of indices literal ([2, 2]); inferred shape of values literal ([1])}}
"t.a"() {a = sparse<[[0, 1], [2, 3]], [1]> : tensor<3x4xi32>} : () -> ()
// -----
// expected-error@+1 {{elements literal type must have static shape}}
"t.a"() {a = sparse<[[0, 1]], [1]> : tensor<?x4xi32>} : () -> ()
// -----
// expected-error@+1 {{elements literal must be a shaped type}}
"t.a"() {a = sparse<0, 1.0> : f32} : () -> ()
// -----
// expected-error@+1 {{expected ','}}
"t.a"() {a = sparse<[[0, 1]]> : tensor<2x4xf32>} : () -> ()
// -----
// expected-error@+1 {{expected 1-d tensor for sparse element values}}
"t.a"() {a = sparse<[[1, 2], [0, 1]], [[1.0, 2.0]]> : tensor<2x4xf32>} : () -> ()
// -----
// expected-error@+1 {{expected integer elements, but parsed floating-point}}
"t.a"() {a = sparse<[[0, 1.0]], 1.0> : tensor<2x4xf32>} : () -> ()
// -----
// expected-error@+1 {{Expected '<' after 'sparse'}}
"t.a"() {a = sparse : tensor<2x4xf32>} : () -> ()
