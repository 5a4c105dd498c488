// What nobody takes is dropped by the command line; a client without functions says so.
// RUN: stablehlo-translate --interpret %s | FileCheck %s
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s --check-prefix=STEP

// CHECK: tensor<i32> {3}
// STEP: call host stablehlo.outfeed
func.func @main() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %a = stablehlo.constant dense<3> : tensor<i32>
  %b = stablehlo.iota dim = 0 : tensor<5xf32>
  %0 = "stablehlo.outfeed"(%a, %b, %t) {outfeed_config = ""} : (tensor<i32>, tensor<5xf32>, !stablehlo.token) -> !stablehlo.token
  return %a : tensor<i32>
}
