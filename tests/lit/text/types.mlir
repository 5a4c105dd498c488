// Types: quantized ones, vectors, memrefs, bounds; each in MLIR's spelling.
// RUN: terrazzo opt %s | FileCheck %s --strict-whitespace
// RUN: terrazzo opt %s | terrazzo opt | FileCheck %s --strict-whitespace

module attributes {
  // CHECK: t.a = !quant.uniform<i8:f32, 3.400000e-02:3>
  t.a = !quant.uniform<i8:f32, 0.034:3>,
  // CHECK-SAME: t.b = !quant.uniform<i8:f32:1, {1.000000e-01,2.000000e-01:-30}>
  t.b = !quant<uniform<i8<-128:127>:f32:1, {0.1, 0.2:-30}>>,
  // CHECK-SAME: t.c = !quant.uniform<u8<1:254>:f64, 7.843137254901961E-9>
  t.c = !quant.uniform<u8<1:254>:f64, 7.843137254901961E-9>,
  // CHECK-SAME: t.d = !quant.uniform<i8:f16:{0:1, 1:2}, {{[{][{]}}9.997550e-02:-56, 2.000000e+00}, {3.000000e+00, 4.000000e+00:3}}>
  t.d = !quant.uniform<i8:f16:{0:1,1:2}, {{0.1:200,2.0},{3.0,4.0:3}}>,
  // CHECK-SAME: t.e = !quant.any<i8<-16:7>:f32>, t.f = !quant.any<u8>, t.g = !quant.calibrated<f32<-0.998:1.232100e+00>>
  t.e = !quant.any<i8<-16:7>:f32>, t.f = !quant.any<u8>,
  t.g = !quant.calibrated<f32<-0.998:1.2321>>,
  // CHECK-SAME: t.h = tensor<?x2x!quant.uniform<ui8:bf16, 1.000000e+00>>
  t.h = tensor<?x2x!quant.uniform<ui8:bf16, 1.0>>,
  // CHECK-SAME: t.i = vector<2x[4]xf32>, t.j = vector<i1>
  t.i = vector<2x[4]xf32>, t.j = vector<i1>,
  // CHECK-SAME: t.k = memref<?x2xf32, strided<[?, 1], offset: 3>, "fast">, t.l = memref<*xi8, 3>, t.m = memref<2xf32>
  t.k = memref<?x2xf32, strided<[?, 1], offset: 3>, "fast">, t.l = memref<*xi8, 3>,
  t.m = memref<2xf32, 0>,
  // CHECK-SAME: t.n = tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  t.n = tensor<?x3xf32, #stablehlo.type_extensions<bounds = [4, ?]>>,
  // CHECK-SAME: t.o = tensor<2xi8, "any">, t.p = tensor<2xi8, 4 : i64>, t.q = !shape.witness
  t.o = tensor<2xi8, "any">, t.p = tensor<2xi8, 4>, t.q = !shape<witness>
} {}
