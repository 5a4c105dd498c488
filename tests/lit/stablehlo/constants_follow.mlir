// Integers that follow from constants are constants in the code, as the ops have them.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: terrazzo run %s
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %a = stablehlo.constant dense<100> : tensor<2xi8>
  %b = stablehlo.constant dense<-128> : tensor<2xi8>
  %zero = stablehlo.constant dense<0> : tensor<2xi8>
  %minus = stablehlo.constant dense<-1> : tensor<2xi8>
  %0 = stablehlo.add %a, %a : tensor<2xi8>
  %1 = stablehlo.divide %b, %minus : tensor<2xi8>
  %2 = stablehlo.divide %a, %zero : tensor<2xi8>
  %3 = stablehlo.remainder %b, %a : tensor<2xi8>
  %4 = stablehlo.convert %b : (tensor<2xi8>) -> tensor<2xui8>
  %5 = stablehlo.convert %a : (tensor<2xi8>) -> tensor<2xui8>
  %6 = stablehlo.maximum %4, %5 : tensor<2xui8>
  %7 = stablehlo.compare GT, %4, %5 : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  %8 = stablehlo.compare GT, %b, %a : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  %9 = stablehlo.not %7 : tensor<2xi1>
  %10 = stablehlo.add %7, %7 : tensor<2xi1>
  %11 = stablehlo.select %7, %a, %b : tensor<2xi1>, tensor<2xi8>
  %12 = stablehlo.convert %7 : (tensor<2xi1>) -> tensor<2xi64>
  %13 = stablehlo.clamp %minus, %a, %zero : tensor<2xi8>
  %14 = stablehlo.convert %b : (tensor<2xi8>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<-56> : tensor<2xi8>
  check.expect_eq_const %1, dense<-128> : tensor<2xi8>
  check.expect_eq_const %2, dense<-1> : tensor<2xi8>
  check.expect_eq_const %3, dense<-28> : tensor<2xi8>
  check.expect_eq_const %6, dense<128> : tensor<2xui8>
  check.expect_eq_const %7, dense<true> : tensor<2xi1>
  check.expect_eq_const %8, dense<false> : tensor<2xi1>
  check.expect_eq_const %9, dense<false> : tensor<2xi1>
  check.expect_eq_const %10, dense<true> : tensor<2xi1>
  check.expect_eq_const %11, dense<100> : tensor<2xi8>
  check.expect_eq_const %12, dense<1> : tensor<2xi64>
  check.expect_eq_const %13, dense<0> : tensor<2xi8>
  check.expect_eq_const %14, dense<true> : tensor<2xi1>

  // what is divided by one knows it
  // CHECK: ui64=constant 0x7; {{.*}}rem
  %x = stablehlo.constant dense<[23, 5]> : tensor<2xui64>
  %most = stablehlo.constant dense<10> : tensor<i64>
  %least = stablehlo.constant dense<3> : tensor<i64>
  %span = stablehlo.subtract %most, %least : tensor<i64>
  %by = stablehlo.convert %span : (tensor<i64>) -> tensor<ui64>
  %all = stablehlo.broadcast_in_dim %by, dims = [] : (tensor<ui64>) -> tensor<2xui64>
  %15 = stablehlo.remainder %x, %all : tensor<2xui64>
  check.expect_eq_const %15, dense<[2, 5]> : tensor<2xui64>
  return
}
