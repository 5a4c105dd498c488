// Attributes that an older StableHLO lacks are left out where they say what their absence says,
// and are an error otherwise.
// RUN: terrazzo opt %s --emit-bytecode --target=1.20.0 | terrazzo opt | FileCheck %s --check-prefix=NEW
// RUN: not terrazzo opt %s --emit-bytecode --target=1.17.0 2>&1 | FileCheck %s --check-prefix=TILINGS
// RUN: grep -v other %s | terrazzo opt --emit-bytecode --target=1.17.0 | terrazzo opt | FileCheck %s
// RUN: grep -v other %s | terrazzo opt --emit-bytecode --target=1.8.0 | terrazzo opt | FileCheck %s
// NEW: stablehlo.custom_call @other(%arg0) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], result_tilings = {{\[}}[dense<128> : tensor<1xindex>]]}
// TILINGS: older.mlir:[[# @LINE + 3]]:8: error: 'stablehlo.custom_call' op uses attribute 'result_tilings', which cannot be expressed in StableHLO 1.17.0
// CHECK-LABEL: @main
func.func @main(%arg0: tensor<256xf32>, %arg1: !stablehlo.token) -> tensor<256xf32> {
  %x = "stablehlo.custom_call"(%arg0) <{call_target_name = "other", operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = [dense<[0]> : tensor<1xindex>], result_tilings = [[dense<[128]> : tensor<1xindex>]]}> : (tensor<256xf32>) -> tensor<256xf32>
  // CHECK: %0 = stablehlo.custom_call @foo(%arg0) : (tensor<256xf32>) -> tensor<256xf32>
  %0 = "stablehlo.custom_call"(%arg0) <{call_target_name = "foo", result_tilings = []}> : (tensor<256xf32>) -> tensor<256xf32>
  // CHECK: %1 = stablehlo.exponential %0 : tensor<256xf32>
  %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<256xf32>
  // CHECK: <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}>
  %2 = "stablehlo.send"(%0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true, source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<256xf32>, !stablehlo.token) -> !stablehlo.token
  // As MLIR's artifacts have it, a splat of no flags is lost.
  // CHECK: stablehlo.constant dense<> : tensor<0xi1>
  %3 = stablehlo.constant dense<true> : tensor<0xi1>
  return %1 : tensor<256xf32>
}
