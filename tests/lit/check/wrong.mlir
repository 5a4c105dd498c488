// RUN: not terrazzo opt -split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: 'check.expect_eq' op requires all operands to have the same type
func.func @eq(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  "check.expect_eq"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}

// -----

// CHECK: error: `programs` attribute cannot be empty
func.func @none() {
  "interpreter.run_parallel"() {programs = []} : () -> ()
  return
}

// -----

// CHECK: error: Function "nobody" not found
func.func @unknown() {
  "interpreter.run_parallel"() {programs = [[@nobody]]} : () -> ()
  return
}

// -----

// CHECK: error: 'check.expect_serialized_eq' op attribute 'iteration' failed to satisfy constraint: 32-bit unsigned integer attribute
func.func @iteration(%a: tensor<2xf32>) {
  "check.expect_serialized_eq"(%a) {probe_id = "p", iteration = 1.5 : f32} : (tensor<2xf32>) -> ()
  return
}

// -----

// CHECK: error: 'check.expect_close' op attribute 'max_ulp_difference' failed to satisfy constraint: 64-bit unsigned integer attribute
func.func @distance(%a: tensor<2xf32>) {
  "check.expect_close"(%a, %a) {max_ulp_difference = 3 : i64} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// -----

// CHECK: error: 'check.expect_almost_eq' op attribute 'tolerance' failed to satisfy constraint: 64-bit float attribute
func.func @tolerance(%a: tensor<2xf32>) {
  "check.expect_almost_eq"(%a, %a) {tolerance = 1.5 : f32} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
