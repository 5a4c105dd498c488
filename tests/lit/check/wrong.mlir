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
