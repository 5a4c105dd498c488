// Hex digits of elements: all alike are a splat, and any bit of an i1 makes it true.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s

// CHECK: a = dense<1> : tensor<2xi32>, b = dense<[1, 2]> : tensor<2xi32>, c = dense<> : tensor<0xi32>,
// CHECK-SAME: d = dense<true> : tensor<8xi1>, e = dense<[false, true, true]> : tensor<3xi1>,
// CHECK-SAME: f = dense<true> : tensor<2xi1>}
"t.a"() {a = dense<"0x0100000001000000"> : tensor<2xi32>, b = dense<"0x0100000002000000"> : tensor<2xi32>,
         c = dense<"0x"> : tensor<0xi32>, d = dense<"0x02"> : tensor<8xi1>,
         e = dense<"0x008001"> : tensor<3xi1>, f = dense<"0x8001"> : tensor<2xi1>} : () -> ()
