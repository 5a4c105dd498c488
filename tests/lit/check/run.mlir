// Checks are steps that fail the run, in functions and loops too, on one device and on several.
// RUN: stablehlo-translate --interpret -split-input-file %s > %t.out
// RUN: FileCheck %s < %t.out
// RUN: terrazzo ops check.expect_eq | FileCheck %s --check-prefix=OPS

// OPS: check.expect_eq {{.*}}vanishes

// CHECK: tensor<2xf32> {
// CHECK-NEXT: [1.000000e+00, 2.000000e+00]
// CHECK-NEXT: }
func.func @equal() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = stablehlo.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %m = stablehlo.negate %z : tensor<2xf32>
  check.expect_eq %z, %m : tensor<2xf32>
  check.expect_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%a, %a) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return %a : tensor<2xf32>
}

// -----

func.func @almost() {
  %a = stablehlo.constant dense<[5.0, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  %b = stablehlo.constant dense<[5.00005, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  check.expect_almost_eq %a, %b : tensor<3xf32>
  check.expect_almost_eq_const %a, dense<[5.1, 0x7FC00000, 0x7F800000]> : tensor<3xf32> {tolerance = 0.2 : f64}
  stablehlo.custom_call @check.expect_almost_eq(%a, %b) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  return
}

// -----

// CHECK: tensor<i1> {true}
func.func @close() -> tensor<i1> {
  %a = stablehlo.constant dense<[(1.0, 0x00000001), (0x7FC00000, -2.0)]> : tensor<2xcomplex<f32>>
  %b = stablehlo.constant dense<[(0x3F800003, 0x80000001), (0xFFC00001, -2.0)]> : tensor<2xcomplex<f32>>
  check.expect_close %a, %b, max_ulp_difference = 3 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
  stablehlo.custom_call @check.expect_close(%a, %b) {has_side_effect = true} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
  %c = stablehlo.constant dense<3> : tensor<i32>
  %d = stablehlo.custom_call @check.eq(%c, %c) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %d : tensor<i1>
}

// -----

// On four devices, over a value that is cut.
sdy.mesh @m = <["x"=4]>
func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %s = sdy.sharding_constraint %i <@m, [{"x"}]> : tensor<8xi32>
  %t = stablehlo.add %s, %s : tensor<8xi32>
  check.expect_eq_const %t, dense<[0, 2, 4, 6, 8, 10, 12, 14]> : tensor<8xi32>
  return
}
