// Elements of i0, of which there is one value: 0. A constant of them is a splat even when empty.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s
// RUN: terrazzo opt -allow-unregistered-dialect %s --emit-bytecode | terrazzo opt -allow-unregistered-dialect | FileCheck %s

// CHECK: a = dense<0> : tensor<2xi0>, b = dense<0> : tensor<2xi0>, c = dense<0> : tensor<0xsi0>,
// CHECK-SAME: d = dense<0> : vector<200xui0>, e = dense<0> : tensor<i0>,
// CHECK-SAME: f = dense<(0,0)> : tensor<2xcomplex<i0>>, g = dense<(0,0)> : tensor<0xcomplex<i0>>,
// CHECK-SAME: h = sparse<{{\[}}[0], [1]], 0> : tensor<2xi0>, i = array<i0: 0, 0>, j = array<ui0>,
// CHECK-SAME: k = 0 : i0, l = 0 : ui0}
"t.a"() {a = dense<0> : tensor<2xi0>, b = dense<[0, 0x0]> : tensor<2xi0>,
         c = dense<> : tensor<0xsi0>, d = dense<"0x"> : vector<200xui0>, e = dense<0> : tensor<i0>,
         f = dense<[(0, 0), (0, 0)]> : tensor<2xcomplex<i0>>, g = dense<"0x"> : tensor<0xcomplex<i0>>,
         h = sparse<[[0], [1]], [0, 0]> : tensor<2xi0>, i = array<i0: 0, 0>, j = array<ui0>,
         k = 0 : i0, l = 0x0 : ui0} : () -> ()
