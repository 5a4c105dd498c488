// RUN: terrazzo opt -allow-unregistered-dialect -split-input-file -verify-diagnostics %s
// expected-error@+1 {{integer constant out of range for attribute}}
"t.a"() {a = 0x100000000000000000 : i68} : () -> ()
// -----
// expected-error@+1 {{integer constant out of range for attribute}}
"t.a"() {a = -36893488147419103233 : i65} : () -> ()
// -----
// expected-error@+1 {{negative integer literal not valid for unsigned integer type}}
"t.a"() {a = -1 : ui72} : () -> ()
// -----
// expected-error@+1 {{expected unsigned integer elements, but parsed negative value}}
"t.a"() {a = dense<[1, -1]> : tensor<2xui72>} : () -> ()
// -----
// expected-error@+1 {{integer constant out of range for type}}
"t.a"() {a = dense<[1, 0x1000000000000000000]> : tensor<2xi72>} : () -> ()
// -----
// expected-error@+1 {{hexadecimal float constant out of range for type}}
"t.a"() {a = 0x100000000000000000000 : f80} : () -> ()
// -----
// expected-error@+1 {{hexadecimal float literal should not have a leading minus}}
"t.a"() {a = -0x1 : f128} : () -> ()
// -----
// expected-error@+1 {{integer constant out of range for type}}
"t.a"() {a = dense<[0, 1]> : tensor<2xi0>} : () -> ()
// -----
// expected-error@+1 {{elements hex data size is invalid for provided type: 'tensor<2xi0>'}}
"t.a"() {a = dense<"0x00"> : tensor<2xi0>} : () -> ()
// -----
// expected-error@+1 {{integer constant out of range for type}}
"t.a"() {a = dense<["0x00", 1]> : tensor<2xi32>} : () -> ()
// -----
// expected-error@+1 {{expected floating point literal}}
"t.a"() {a = dense<[true, 1.0]> : tensor<2xf32>} : () -> ()
// -----
// expected-error@+1 {{expected integer or floating point literal}}
"t.a"() {a = dense<-true> : tensor<2xi1>} : () -> ()
// -----
// expected-error@+1 {{parsed 1 elements, but type ('complex<i32>') expected 2 elements}}
"t.a"() {a = dense<1> : tensor<2xcomplex<i32>>} : () -> ()
// -----
// expected-error@+1 {{parsed 3 elements, but type ('tensor<2xcomplex<i32>>') expected 4 elements}}
"t.a"() {a = dense<[(1, 2), 3]> : tensor<2xcomplex<i32>>} : () -> ()
// -----
// expected-error@+1 {{inferred shape of elements literal ([0]) does not match type ([0, 3])}}
"t.a"() {a = dense<[]> : tensor<0x3xi32>} : () -> ()
// -----
// expected-error@+1 {{parsed zero elements, but type ('tensor<i32>') expected at least 1}}
"t.a"() {a = dense<> : tensor<i32>} : () -> ()
// -----
// expected-error@+1 {{expected string token, got 1.0}}
"t.a"() {a = dense<["a", 1.0]> : tensor<2x!t.x>} : () -> ()
// -----
// expected-error@+1 {{inferred shape of elements literal ([2]) does not match type ([2, 1])}}
"t.a"() {a = dense<["a", "b"]> : tensor<2x1x!t.x>} : () -> ()
