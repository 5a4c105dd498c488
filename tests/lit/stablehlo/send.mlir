// RUN: stablehlo-translate --interpret %s | FileCheck %s

// Two messages on one channel, in their order; the third device sends through another.
// CHECK: tensor<2xi32> {
// CHECK-NEXT: [1, 2]
// CHECK: tensor<i64> {9}
module {
  func.func private @from(%a: tensor<2xi32>, %b: tensor<i64>, %t: !stablehlo.token) -> !stablehlo.token {
    %0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
    %1 = "stablehlo.send"(%b, %0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<i64>, !stablehlo.token) -> !stablehlo.token
    return %1 : !stablehlo.token
  }
  func.func private @to(%t: !stablehlo.token) -> (tensor<2xi32>, tensor<i64>, tensor<f32>) {
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
    %1:2 = "stablehlo.recv"(%0#1) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    %2:2 = "stablehlo.recv"(%1#1) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    return %1#0, %2#0, %0#0 : tensor<2xi32>, tensor<i64>, tensor<f32>
  }
  func.func private @other() -> tensor<i32> {
    %t = stablehlo.create_token : !stablehlo.token
    %a = stablehlo.constant dense<5.0> : tensor<f32>
    %0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 2>, is_host_transfer = true} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
    %1 = "stablehlo.outfeed"(%a, %0) : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
    %2 = stablehlo.constant dense<0> : tensor<i32>
    return %2 : tensor<i32>
  }
  func.func @main() -> (tensor<2xi32>, tensor<i64>) {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %b = stablehlo.constant dense<9> : tensor<i64>
    %t = stablehlo.create_token : !stablehlo.token
    %r:5 = "interpreter.run_parallel"(%a, %b, %t, %t) {programs = [[@from], [@to], [@other]]}
      : (tensor<2xi32>, tensor<i64>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2xi32>, tensor<i64>, tensor<f32>, tensor<i32>)
    check.expect_eq_const %r#3, dense<5.0> : tensor<f32>
    return %r#1, %r#2 : tensor<2xi32>, tensor<i64>
  }
}
