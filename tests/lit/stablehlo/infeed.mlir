// RUN: not stablehlo-translate --interpret -split-input-file %s > %t.out 2> %t.err
// RUN: FileCheck %s < %t.out
// RUN: FileCheck %s --check-prefix=ERR < %t.err

// What an infeed finds are the results of the functions that are named for it.
// CHECK: tensor<i32> {21}
func.func private @one() -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @two() -> tensor<i32> {
  %0 = stablehlo.constant dense<20> : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @reads(%t: !stablehlo.token) -> (tensor<i32>, !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  %1:2 = "stablehlo.infeed"(%0#1) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  check.expect_eq_const %0#0, dense<1> : tensor<i32>
  %2 = stablehlo.add %0#0, %1#0 : tensor<i32>
  return %2, %1#1 : tensor<i32>, !stablehlo.token
}
func.func @main() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = "interpreter.run_parallel"(%t) {infeed = [@one, @two], programs = [[@reads]]} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return %r#0 : tensor<i32>
}

// -----

// ERR: error: stablehlo.infeed: the host has no function 'stablehlo.infeed'
func.func @alone() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return %0#0 : tensor<i32>
}
