// Elements of array<...>: integers and floats of whole bytes.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s
// RUN: terrazzo opt -allow-unregistered-dialect %s --emit-bytecode | terrazzo opt -allow-unregistered-dialect | FileCheck %s

// CHECK: a = array<i128: 1, -1, -1>, b = array<ui128: 340282366920938463463374607431768211455>,
// CHECK-SAME: c = array<i72: 5, -5>, d = array<i24: -1, -3>, e = array<f80: 1.000000e+00, -2.500000e+00>,
// CHECK-SAME: f = array<f128: 1.500000e+00>, g = array<i1: true, false, true>, h = array<ui8: 255, 255>,
// CHECK-SAME: i = array<f8E4M3FN: 1.000000e+00>, j = array<i128>, k = array<f32: 0x7F800000>}
"t.x"() {a = array<i128: 1, -1, 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF>,
         b = array<ui128: 340282366920938463463374607431768211455>, c = array<i72: 5, -5>,
         d = array<i24: 16777215, -3>, e = array<f80: 0x3FFF8000000000000000, -2.5>,
         f = array<f128: 1.5>, g = array<i1: true, false, -true>, h = array<ui8: 255, -1>,
         i = array<f8E4M3FN: 1.0>, j = array<i128>, k = array<f32: 0x7F800000>} : () -> ()
