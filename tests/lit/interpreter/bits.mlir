// An i1 is one bit of a wider element.
// RUN: stablehlo-translate --interpret -split-input-file %s
func.func @main() {
  %0 = stablehlo.constant dense<[true, false, false, true, false, true, true, false]> : tensor<8xi1>
  %1 = stablehlo.bitcast_convert %0 : (tensor<8xi1>) -> tensor<ui8>
  check.expect_eq_const %1, dense<105> : tensor<ui8>
  %2 = stablehlo.bitcast_convert %1 : (tensor<ui8>) -> tensor<8xi1>
  check.expect_eq %2, %0 : tensor<8xi1>
  return
}

// // -----

// The marker above parts modules too, comment or not.
func.func @another() {
  return
}
