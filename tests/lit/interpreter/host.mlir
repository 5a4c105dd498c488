// What a program asks of the host: to print, to write a tensor down and to look at it again.
// RUN: rm -rf %t && mkdir %t
// RUN: stablehlo-translate --interpret --probe-output-dir=%t --split-input-file %s | FileCheck %s
// RUN: not stablehlo-translate --interpret --split-input-file %s 2>&1 | FileCheck %s --check-prefix=NOWHERE

// CHECK: %0 = tensor<2xi32> {
// CHECK-NEXT: {{^}}  [0, 1]
// CHECK-NEXT: }
// CHECK-NEXT: %c = tensor<ui8> {200}
// CHECK-NEXT: tensor<i32> {7}
func.func @main() -> tensor<i32> {
  %0 = stablehlo.iota dim = 0 : tensor<2xi32>
  interpreter.print %0 : tensor<2xi32>
  %1 = stablehlo.constant dense<200> : tensor<ui8>
  call @inner(%1) : (tensor<ui8>) -> ()
  interpreter.print %1 : tensor<ui8>
  %2 = stablehlo.constant dense<7> : tensor<i32>
  return %2 : tensor<i32>
}
func.func private @inner(%a: tensor<ui8>) {
  return
}

// -----

// NOWHERE: error: interpreter.probe: Probe serialization directory cannot be empty.
func.func @probe() -> tensor<2xbf16> {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xbf16>
  %b = stablehlo.add %a, %a : tensor<2xbf16>
  %c = interpreter.probe %b, probe_id = "p" : tensor<2xbf16>
  %d = interpreter.probe %a, probe_id = "p" : tensor<2xbf16>
  check.expect_serialized_eq %b, probe_id = "p" : tensor<2xbf16>
  check.expect_serialized_eq %a, probe_id = "p", iter = 1 : tensor<2xbf16>
  return %c : tensor<2xbf16>
}
