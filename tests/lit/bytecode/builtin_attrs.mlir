// Attributes of builtin that go through native bytecode as they are; MLIR reads the same file.
// RUN: terrazzo opt -allow-unregistered-dialect %s --emit-bytecode --target=native -o %t.mlirbc
// RUN: terrazzo opt -allow-unregistered-dialect %t.mlirbc | FileCheck %s
// RUN: terrazzo opt -allow-unregistered-dialect %s --emit-bytecode | terrazzo opt -allow-unregistered-dialect | FileCheck %s

// Two distinct attributes of one value stay two.
// CHECK: [[A:#.+]] = distinct[0]<"x">
// CHECK: [[B:#.+]] = distinct[1]<"x">
// CHECK: {a = [[A]], b = [[B]], c = [[A]], d = {{\[}}[[B]], distinct[2]<>], e = distinct[3]<>}
"t.a"() {a = distinct[0]<"x">, b = distinct[1]<"x">, c = distinct[0]<"x">, d = [distinct[1]<"x">, distinct[2]<unit>], e = distinct[3]<>} : () -> ()
// CHECK: {a = sparse<{{\[}}[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>, b = sparse<0, -2.000000e+00> : tensor<3xf32>, c = sparse<> : tensor<3xf32>, d = sparse<{{\[}}[1, 1], [2, 2]], true> : tensor<4x4xi1>, e = sparse<1, (1.000000e+00,2.000000e+00)> : tensor<4xcomplex<f32>>, f = sparse<2, 3> : vector<4xi64>, g = sparse<[0, 1], [true, false]> : tensor<4xi1>}
"t.b"() {a = sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>, b = sparse<0, -2.0> : tensor<3xf32>, c = sparse<> : tensor<3xf32>, d = sparse<[[1, 1], [2, 2]], true> : tensor<4x4xi1>, e = sparse<[[1]], (1.0, 2.0)> : tensor<4xcomplex<f32>>, f = sparse<2, [3]> : vector<4xi64>, g = sparse<[0, 1], [true, false]> : tensor<4xi1>} : () -> ()
// CHECK: {a = sparse<0, "a"> : tensor<3x!foo.bar>, b = sparse<[0, 1], ["a", "b"]> : tensor<3x!foo.bar>}
"t.c"() {a = sparse<[[0]], ["a"]> : tensor<3x!foo.bar>, b = sparse<[0, 1], ["a", "b"]> : tensor<3x!foo.bar>} : () -> ()
// CHECK: {a = i0, b = 0 : ui0, c = i16777215}
"t.d"() {a = i0, b = 0 : ui0, c = i16777215} : () -> ()
// What stands in <> is one attribute of any kind, and not among the others.
// CHECK: "t.e"() <{a = 1 : i32, b}> {c = 2 : i32} : () -> ()
"t.e"() <{a = 1 : i32, b}> {c = 2 : i32} : () -> ()
// CHECK: "t.e"() <5 : i64> : () -> ()
"t.e"() <5 : i64> : () -> ()
// CHECK: "t.e"() <{}> : () -> ()
"t.e"() <{}> : () -> ()
// CHECK: {a = tensor<2xvector<3xf32>>, b = tensor<*xvector<[3]xf32>>, c = memref<2xvector<3xf32>>}
"t.types"() {a = tensor<2xvector<3xf32>>, b = tensor<*xvector<[3]xf32>>, c = memref<2xvector<3xf32>>} : () -> ()
// Elements that only some shapes have.
// CHECK: {a = tensor<2x!stablehlo.token>, b = tensor<2xvector<3xf32>>, c = tensor<*xvector<3xf32>>, d = memref<2xmemref<?xf32>>, e = tensor<2x!stablehlo.future<tensor<f32>>>}
"t.f"() {a = tensor<2x!stablehlo.token>, b = tensor<2xvector<3xf32>>, c = tensor<*xvector<3xf32>>, d = memref<2xmemref<?xf32>>, e = tensor<2x!stablehlo.future<tensor<f32>>>} : () -> ()
// CHECK: {a = memref<2xmemref<3xf32>>, b = memref<2xmemref<*xf32, 1>>, c = dense<[1, 2]> : memref<2xi32>, d = sparse<0, 1> : memref<2xi32, "x">}
"t.memrefs"() {a = memref<2xmemref<3xf32>>, b = memref<2xmemref<*xf32, 1>>, c = dense<[1, 2]> : memref<2xi32>, d = sparse<[[0]], [1]> : memref<2xi32, "x">} : () -> ()
// CHECK: {a = dense_resource<r> : memref<1xi8>}
"t.resource"() {a = dense_resource<r> : memref<1xi8>} : () -> ()
{-# dialect_resources: { builtin: { r: "0x0100000001" } } #-}
