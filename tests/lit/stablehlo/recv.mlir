// RUN: not stablehlo-translate --interpret -split-input-file %s 2>&1 | FileCheck %s --check-prefix=ERR

// ERR: error: stablehlo.recv: the host has no function 'stablehlo.recv'
func.func @nobody() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return %0#0 : tensor<i32>
}

// -----

// Who receives before it sends waits for ever, and is told so.
// ERR: deadlock: every device that is not finished waits:
// ERR-NEXT: device 0 waits for a message at call "stablehlo.custom_call"
func.func @late() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  %1 = "stablehlo.send"(%0#0, %0#1) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
  return %0#0 : tensor<i32>
}
