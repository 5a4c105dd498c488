// What is wrong with an op's custom form, in MLIR's words.
// RUN: terrazzo opt -verify-diagnostics -split-input-file %s

func.func @count(%a: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.abs' 1 operands present, but expected 2}}
  %0 = stablehlo.abs %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @precision(%a: tensor<2x2xf32>) {
  // expected-error @+2 {{custom op 'stablehlo.dot' expected ::mlir::stablehlo::Precision to be one of: DEFAULT, HIGH, HIGHEST}}
  // expected-error @+1 {{custom op 'stablehlo.dot' failed to parse StableHLO_PrecisionAttr parameter 'value' which is to be a `::mlir::stablehlo::Precision`}}
  %0 = stablehlo.dot %a, %a, precision = [BEST] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @exponent(%a: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.reduce_precision' unable to parse mantissa '99999999999'}}
  %0 = stablehlo.reduce_precision %a, format = e2m99999999999 : tensor<2xf32>
  return
}

// -----

func.func @exponents(%a: tensor<2xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.reduce_precision' expected exponent mantissa in format e#m#, saw e2m3x}}
  %0 = stablehlo.reduce_precision %a, format = e2m3x : tensor<2xf32>
  return
}

// -----

func.func @dims(%a: tensor<2x2xf32>) {
  // expected-error @+2 {{custom op 'stablehlo.transpose' expected integer value}}
  // expected-error @+1 {{expected ']'}}
  %0 = stablehlo.transpose %a, dims = [1, zero] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

module {}
{-#
  dialect_resources: {
    builtin: {
      // expected-error @+1 {{expected hex string blob for key 'odd' to encode alignment in first 4 bytes, but got non-power-of-2 value: 3}}
      odd: "0x030000000000803F"
    }
  }
#-}
