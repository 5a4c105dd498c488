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
