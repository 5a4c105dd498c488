// Builtin attributes and types.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace --match-full-lines

!pair = tuple<i32, tensor<2x?xf32>>
"a.b"() {a = 1, b = 1.0 : f32, c = [1, 2.5, true, -7 : i8, unit], d = {"x y" = "q\22\0A\\", e},
         f = @a::@"b c", g = array<i64: 1, -2>, h = array<i1>, i = !pair, k = i32,
         l = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, m = dense<> : tensor<0x3xf32>,
         n = dense<["s", "t"]> : tensor<2x!a.str>, o = #other.thing<1, [2]>, p = () -> (i32, i64),
         q = (i1) -> i1, r = tensor<*xcomplex<f64>>, s = 0xFFC00000 : f32,
         t = tensor<?xf32, #stablehlo.bounds<4>>, u = 18446744073709551615 : ui64} : () -> ()

// CHECK:module {
// CHECK-NEXT:  "a.b"() {a = 1 : i64, b = 1.000000e+00 : f32, c = [1, 2.500000e+00, true, -7 : i8, unit], d = {e, "x y" = "q\22\0A\\"}, f = @a::@"b c", g = array<i64: 1, -2>, h = array<i1>, i = tuple<i32, tensor<2x?xf32>>, k = i32, l = dense<[{{\[}}1, 2], [3, 4]]> : tensor<2x2xi8>, m = dense<> : tensor<0x3xf32>, n = dense<["s", "t"]> : tensor<2x!a.str>, o = #other.thing<1, [2]>, p = () -> (i32, i64), q = (i1) -> i1, r = tensor<*xcomplex<f64>>, s = 0xFFC00000 : f32, t = tensor<?xf32, #stablehlo.bounds<4>>, u = 18446744073709551615 : ui64} : () -> ()
// CHECK-NEXT:}
