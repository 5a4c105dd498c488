// Flags of arith's ops in front of the dictionary, and what tensor and arith ops may take.
// RUN: split-file %s %t
// RUN: terrazzo opt %t/good.mlir | FileCheck %s
// RUN: terrazzo opt -mlir-print-op-generic %t/good.mlir | FileCheck %s --check-prefix=GENERIC
// RUN: terrazzo opt %t/good.mlir | terrazzo opt | FileCheck %s
// RUN: terrazzo opt %t/wrong.mlir -split-input-file -verify-diagnostics

//--- good.mlir
func.func @f(%x: f32, %y: i32, %i: tensor<2xi32>, %v: vector<4xi32>, %u: tensor<*xi32>) {
  // CHECK: arith.addf %arg0, %arg0 fastmath<reassoc,nsz> : f32
  %1 = arith.addf %x, %x fastmath<nsz, reassoc,none> : f32
  // CHECK: arith.addf %arg0, %arg0 fastmath<fast> {a} : f32
  %2 = arith.addf %x, %x fastmath<fast> {a} : f32
  // CHECK: arith.addf %arg0, %arg0 : f32
  // GENERIC: "arith.addf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
  %3 = arith.addf %x, %x : f32
  // CHECK: arith.divsi %arg1, %arg1 exact {b} : i32
  %4 = arith.divsi %y, %y exact {b} : i32
  // CHECK: arith.divsi %arg1, %arg1 exact : i32
  // GENERIC: "arith.divsi"(%arg1, %arg1) <{isExact}> : (i32, i32) -> i32
  %5 = "arith.divsi"(%y, %y) <{isExact}> : (i32, i32) -> i32
  // CHECK: arith.divsi %arg1, %arg1 : i32
  %6 = arith.divsi %y, %y : i32
  // CHECK: arith.addi %arg1, %arg1 overflow<nsw, nuw> : i32
  %7 = arith.addi %y, %y overflow<nuw, nsw> : i32
  // CHECK: arith.subi %arg1, %arg1 overflow<nuw> : i32
  %8 = "arith.subi"(%y, %y) <{overflowFlags = #arith.overflow<nuw>}> : (i32, i32) -> i32
  // CHECK: arith.muli %arg1, %arg1 : i32
  %9 = arith.muli %y, %y overflow<none> : i32
  // CHECK: [[FLAGS:%.*]] = arith.cmpi slt, %arg2, %arg2 : tensor<2xi32>
  %10 = arith.cmpi slt, %i, %i : tensor<2xi32>
  // CHECK: arith.select [[FLAGS]], %arg2, %arg2 : tensor<2xi1>, tensor<2xi32>
  %11 = arith.select %10, %i, %i : tensor<2xi1>, tensor<2xi32>
  // GENERIC: (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
  %12 = arith.cmpi slt, %v, %v : vector<4xi32>
  // GENERIC: (tensor<*xi32>, tensor<*xi32>) -> tensor<*xi1>
  %13 = arith.cmpi slt, %u, %u : tensor<*xi32>
  return
}

//--- wrong.mlir
func.func @f(%x: f32) {
  // expected-error@+1 {{expected ::mlir::arith::FastMathFlags to be one of: none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast}}
  %1 = arith.addf %x, %x fastmath<foo> : f32
}
// -----
func.func @f(%x: i32) {
  // expected-error@+1 {{expected ::mlir::arith::IntegerOverflowFlags to be one of: none, nsw, nuw}}
  %1 = arith.addi %x, %x overflow<fast> : i32
}
// -----
func.func @f(%x: i32) {
  // expected-error@+1 {{attribute 'overflowFlags' failed to satisfy constraint: Integer overflow arith flags}}
  %1 = "arith.addi"(%x, %x) {overflowFlags = 3 : i32} : (i32, i32) -> i32
}
// -----
func.func @f(%x: i32) {
  // expected-error@+1 {{operand #0 must be floating-point-like, but got 'i32'}}
  %1 = arith.addf %x, %x : i32
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1 {{operand #0 must be signless-non-zero-bitwidth-integer-like, but got 'f32'}}
  %1 = arith.addi %x, %x : f32
}
// -----
func.func @f(%x: index, %y: i32) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %1 = "arith.maxsi"(%x, %y) : (index, i32) -> i32
}
// -----
func.func @f(%i: tensor<2xi32>, %c: tensor<3xi32>) {
  // expected-error@+1 {{requires all operands to have the same type}}
  %1 = "arith.cmpi"(%i, %c) <{predicate = 2 : i64}> : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi1>
}
// -----
func.func @f(%i: tensor<2xi32>) {
  // expected-error@+1 {{failed to verify that result type has i1 element type and same shape as operands}}
  %1 = "arith.cmpi"(%i, %i) <{predicate = 2 : i64}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<3xi1>
}
// -----
func.func @f(%i: tensor<2xi32>) {
  // expected-error@+1 {{attribute 'predicate' failed to satisfy constraint}}
  %1 = "arith.cmpi"(%i, %i) <{predicate = 11 : i64}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
}
// -----
func.func @f(%i: tensor<2xi32>, %c: i32) {
  // expected-error@+1 {{operand #0 must be bool-like, but got 'i32'}}
  %1 = "arith.select"(%c, %i, %i) : (i32, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
}
// -----
func.func @f(%i: tensor<2xi32>, %c: tensor<3xi1>) {
  // expected-error@+1 {{failed to verify that condition is signless i1 or has matching shape}}
  %1 = arith.select %c, %i, %i : tensor<3xi1>, tensor<2xi32>
}
// -----
func.func @f(%i: tensor<2xi32>, %c: i1, %d: tensor<3xi32>) {
  // expected-error@+1 {{failed to verify that all of {true_value, false_value, result} have same type}}
  %1 = "arith.select"(%c, %i, %d) : (i1, tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
}
// -----
func.func @f(%t: tensor<f32>, %i: index) {
  // expected-error@+1 {{operand #0 must be non-0-ranked or unranked tensor, but got 'tensor<f32>'}}
  %1 = tensor.dim %t, %i : tensor<f32>
}
// -----
func.func @f(%t: tensor<2xf32>, %i: i32) {
  // expected-error@+1 {{operand #1 must be index, but got 'i32'}}
  %1 = "tensor.dim"(%t, %i) : (tensor<2xf32>, i32) -> index
}
// -----
func.func @f(%t: tensor<2x3xf32>, %i: index) {
  // expected-error@+1 {{incorrect number of indices for extract_element}}
  %1 = tensor.extract %t[%i] : tensor<2x3xf32>
}
// -----
func.func @f(%t: tensor<2xf32>, %i: index) {
  // expected-error@+1 {{failed to verify that result type matches element type of tensor}}
  %1 = "tensor.extract"(%t, %i) : (tensor<2xf32>, index) -> i32
}
// -----
func.func @f(%t: tensor<2xf32>, %i: i32) {
  // expected-error@+1 {{operand #1 must be variadic of index, but got 'i32'}}
  %1 = "tensor.extract"(%t, %i) : (tensor<2xf32>, i32) -> f32
}
// -----
func.func @f(%i: index) {
  // expected-error@+1 {{result #0 must be statically shaped tensor of any non-token type values, but got 'tensor<?xindex>'}}
  %1 = tensor.from_elements %i : tensor<?xindex>
}
// -----
func.func @f(%i: index, %j: i32) {
  // expected-error@+1 {{failed to verify that operand types match result element type}}
  %1 = "tensor.from_elements"(%i, %j) : (index, i32) -> tensor<2xindex>
}
