// The checks and the interpreter's ops, read and printed.
// RUN: terrazzo opt %s | FileCheck %s --strict-whitespace
// RUN: terrazzo opt -mlir-print-op-generic %s | terrazzo opt | FileCheck %s --strict-whitespace

func.func @body(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

func.func @main(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // CHECK: check.expect_eq %arg1, %arg1 : tensor<2xi32>
  check.expect_eq %b, %b : tensor<2xi32>
  // CHECK-NEXT: check.expect_eq_const %arg1, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %b, dense<[1, 2]> : tensor<2xi32>
  // CHECK-NEXT: check.expect_almost_eq %arg0, %arg0, tolerance = 1.000000e-01 : tensor<2xf32>
  check.expect_almost_eq %a, %a, tolerance = 0.1 : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq_const %arg0, dense<1.000000e+00> : tensor<2xf32>{{$}}
  check.expect_almost_eq_const %a, dense<1.0> : tensor<2xf32>, tolerance = 1.0e-4
  // CHECK-NEXT: check.expect_close %arg0, %arg0, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %a, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: check.expect_close %arg0, %arg0, max_ulp_difference = 18446744073709551615, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %a, max_ulp_difference = 18446744073709551615, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: %0 = interpreter.probe %arg0, probe_id = "p" : tensor<2xf32>
  %p = interpreter.probe %a, probe_id = "p" : tensor<2xf32>
  // CHECK-NEXT: check.expect_serialized_eq %0, probe_id = "p", iter = 1 : tensor<2xf32>
  check.expect_serialized_eq %p, probe_id = "p", iter = 1 : tensor<2xf32>
  // CHECK-NEXT: interpreter.print %arg0 : tensor<2xf32>
  interpreter.print %a : tensor<2xf32>
  // CHECK-NEXT: %1 = "interpreter.run_parallel"(%arg0) <{programs = {{\[\[}}@body]]}> : (tensor<2xf32>) -> tensor<2xf32>
  %r = "interpreter.run_parallel"(%a) {programs = [[@body]]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
