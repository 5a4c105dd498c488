// Numbers of more than 64 bits; the texts are MLIR's.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --check-prefixes=CHECK,ONCE
// RUN: terrazzo opt -allow-unregistered-dialect %s | terrazzo opt -allow-unregistered-dialect | FileCheck %s
// RUN: terrazzo opt -allow-unregistered-dialect --emit-bytecode --target=native %s | terrazzo opt -allow-unregistered-dialect | FileCheck %s

// CHECK: "t.int"() {a = 5 : i128, b = -5 : i128, c = 255 : i128, d = -1 : i128, e = 340282366920938463463374607431768211455 : ui128, f = 5 : si100, g = -170141183460469231731687303715884105728 : i128}
"t.int"() {a = 5 : i128, b = -5 : i128, c = 0xFF : i128, d = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF : i128, e = 340282366920938463463374607431768211455 : ui128, f = 5 : si100, g = -170141183460469231731687303715884105728 : i128} : () -> ()
// CHECK: "t.dense"() {a = dense<[1, -3]> : tensor<2xi100>, b = dense<-3> : tensor<2xi128>, c = dense<[1, -1]> : tensor<2xi128>, d = dense<[1, -170141183460469231731687303715884105726]> : tensor<2xi128>, e = dense<(1,-2)> : tensor<2xcomplex<i70>>}
"t.dense"() {a = dense<[1, -3]> : tensor<2xi100>, b = dense<-3> : tensor<2xi128>, c = dense<[1, 340282366920938463463374607431768211455]> : tensor<2xi128>, d = dense<"0x0100000000000000000000000000000002000000000000000000000000000080"> : tensor<2xi128>, e = dense<[(1, -2), (1, -2)]> : tensor<2xcomplex<i70>>} : () -> ()
// CHECK: "t.f80"() {a = 1.500000e+00 : f80, b = 1.000000e+00 : f80, c = 0.100000000000000005551 : f80, d = 0x7FFF8000000000000000 : f80, e = 0xFFFFC000000000000000 : f80, h = -0.000000e+00 : f80}
"t.f80"() {a = 1.5 : f80, b = 0x3FFF8000000000000000 : f80, c = 0.1 : f80, d = 1.0e400 : f80, e = 0xFFFFC000000000000000 : f80, h = -0.0 : f80} : () -> ()
// CHECK: "t.f128"() {a = 1.500000e+00 : f128, b = 1.500000e+00 : f128, c = 0.100000000000000005551115123125782702 : f128, d = dense<[1.500000e+00, -0.100000000000000005551115123125782702]> : tensor<2xf128>, e = dense<1.000000e+00> : tensor<2xf80>}
"t.f128"() {a = 1.5 : f128, b = 0x3FFF8000000000000000000000000000 : f128, c = 0.1 : f128, d = dense<[1.5, -0.1]> : tensor<2xf128>, e = dense<[0x3FFF8000000000000000, 1.0]> : tensor<2xf80>} : () -> ()
// Six digits that lie halfway between two numbers are read as the even one.
// ONCE: "t.half"() {a = 9.671430e+24 : f80}
"t.half"() {a = 0x40528000145568FC0586 : f80} : () -> ()
// What a double cannot hold is not read back, as in MLIR, whose parser reads doubles.
// ONCE: "t.huge"() {a = -3.93325004909139450103E+2719 : f80, b = 4.374240e-4950 : f80}
"t.huge"() {a = 0xE3499D642BA786862656 : f80, b = 0xC : f80} : () -> ()
