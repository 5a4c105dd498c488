// What is wrong with a type, in MLIR's words.
// RUN: not terrazzo opt -split-input-file %s 2>&1 | FileCheck %s

// CHECK: :[[#@LINE+1]]:44: error: illegal quantized dimension: -1
module attributes {t.a = tensor<2x3x!quant.uniform<i8:f32:-1, {1.0}>>} {}

// -----

// CHECK: error: scale 1.000000e+10 out of expressed type range [5.960464e-08, 6.550400e+04]
module attributes {t.a = !quant.uniform<i8:f16, 1.0E10>} {}

// -----

// CHECK: error: illegal storage type size: 33
module attributes {t.a = !quant.uniform<i33:f32, 1.0>} {}

// -----

// CHECK: error: illegal storage type maximum: 500
module attributes {t.a = !quant.uniform<i8<-2:500>:f32, 1.0>} {}

// -----

// CHECK: error: illegal storage min and storage max: (5:5)
module attributes {t.a = !quant.any<i8<5:5>>} {}

// -----

// CHECK: error: tensor literal is invalid; ranks are not consistent between elements
module attributes {t.a = !quant.uniform<i8:f32:{0:1}, {{1.0}, 2.0}>} {}

// -----

// CHECK: error: illegal block size: 0
module attributes {t.a = !quant.uniform<i8:f32:{0:0}, {1.0}>} {}

// -----

// CHECK: error: illegal min and max: (1.000000e+00:-1.000000e+00)
module attributes {t.a = !quant.calibrated<f32<1.0:-1.0>>} {}

// -----

// CHECK: error: Bounds length is 2, expected to be equal to rank(1) of the tensor 'tensor<?xf32>'
module attributes {t.a = tensor<?xf32, #stablehlo.bounds<3, ?>>} {}

// -----

// CHECK: error: Static dimension 0 cannot have a bound, use ShapedType::kDynamic to indicate a missing bound in tensor 'tensor<2xf32>'
module attributes {t.a = tensor<2xf32, #stablehlo.bounds<3>>} {}

// -----

// CHECK: error: `!"foo"<"bar">` type created with unregistered dialect.
module attributes {t.a = !foo.bar} {}

// -----

// CHECK: error: unknown stablehlo type: foo
module attributes {t.a = !stablehlo.foo} {}

// -----

// CHECK: error: vector types must have positive constant sizes but got 0
module attributes {t.a = vector<0xf32>} {}

// -----

// CHECK: error: non-affine expression: at least one of the multiply operands has to be either a constant or symbolic
module attributes {t.a = affine_map<(d0, d1) -> (d0 * d1)>} {}

// -----

// CHECK: error: use of undeclared identifier
module attributes {t.a = affine_map<(d0) -> (d1)>} {}

// -----

// CHECK: :{{[0-9]+}}:44: error: expected ')' in dimensional identifier list
module attributes {t.a = affine_map<(d0, d1 -> (d0)>} {}

// -----

// CHECK: :{{[0-9]+}}:44: error: expected ']' in symbol list
module attributes {t.a = affine_map<(d0)[s0) -> (d0)>} {}

// -----

// CHECK: :{{[0-9]+}}:52: error: expected ')' in affine map range
module attributes {t.a = affine_map<(d0, d1) -> (d0>} {}

// -----

// CHECK: :{{[0-9]+}}:52: error: expected ')' in integer set constraint list
module attributes {t.a = affine_set<(d0) : (d0 == 0>} {}

// -----

// CHECK: :{{[0-9]+}}:35: error: invalid memref element type
module attributes {t.a = memref<2x!stablehlo.token>} {}

// -----

// CHECK: :{{[0-9]+}}:26: error: unsupported memory space Attribute
module attributes {t.a = memref<2xi32, [1]>} {}

// -----

// CHECK: :{{[0-9]+}}:26: error: unsupported memory space Attribute
module attributes {t.a = memref<*xi32, 1.5>} {}

// -----

// CHECK: :{{[0-9]+}}:26: error: failed to verify 'elementType': VectorElementTypeInterface instance
module attributes {t.a = vector<2xcomplex<f32>>} {}

// -----

// CHECK: :{{[0-9]+}}:26: error: elements literal type must have static shape
module attributes {t.a = dense<1> : memref<?xi32>} {}
