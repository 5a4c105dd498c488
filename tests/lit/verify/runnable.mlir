// Valid, but not for the stages behind the verifier.
// RUN: terrazzo opt %s -split-input-file -allow-unregistered-dialect | FileCheck %s
// RUN: terrazzo opt %s -split-input-file -allow-unregistered-dialect -verify-diagnostics -sdy-basic-propagate

// CHECK-LABEL: call @f
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{calls 'f', which calls back}}
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{too large}}
func.func @main(%a: tensor<4611686018427387904x4xf32>) {
  return
}

// -----

func.func @main(%a: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{is not implemented: an order of complex numbers}}
  %0:2 = chlo.top_k(%a, k = 2) : tensor<8xcomplex<f32>> -> (tensor<2xcomplex<f32>>, tensor<2xi32>)
  return
}

// -----

// An exbibyte is the most.
// expected-error@+1 {{'tensor<1152921504606846977xi8>' is too large}}
func.func @main(%a: tensor<1152921504606846976xi8>, %b: tensor<1152921504606846977xi8>) {
  return
}

// -----

// CHECK: func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
// expected-error@+1 {{is not implemented: a function without a body}}
func.func private @declared(%a: tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK-LABEL: func.func @blocks
// CHECK: ^bb1
// expected-error@+1 {{is not implemented: a function of several blocks}}
func.func @blocks(%a: tensor<4xf32>) -> tensor<4xf32> {
  "cf.br"()[^bb1] : () -> ()
^bb1:
  return %a : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @unranked
// CHECK-SAME: tensor<*xf32>
// expected-error@+1 {{is not implemented: values of 'tensor<*xf32>'}}
func.func @unranked(%a: tensor<*xf32>) {
  return
}

// -----

// CHECK-LABEL: func.func @other
// expected-error@+1 {{is not implemented: elements that are not numbers: 'tensor<4x!other.thing>'}}
func.func @other(%a: tensor<4x!other.thing>) {
  return
}

// -----

// CHECK-LABEL: func.func @tokens
func.func @tokens(%a: !stablehlo.token) -> !stablehlo.token {
  // expected-error@+1 {{is not implemented: shardings of '!stablehlo.token'}}
  %0 = sdy.sharding_constraint %a <@mesh, []> : !stablehlo.token
  return %0 : !stablehlo.token
}
sdy.mesh @mesh = <["x"=2]>

// -----

// CHECK-LABEL: func.func @rows
func.func @rows(%a: tensor<2x4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{a reduction-region over 'tensor<4xf32>'; only scalars are}}
  %0 = "stablehlo.reduce"(%a, %v) ({
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %1 = stablehlo.add %x, %y : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) {dimensions = array<i64: 0>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @bits
func.func @bits(%a: tensor<2xui64>) -> tensor<4xui32> {
  // expected-error@+1 {{is not implemented: a state of 'tensor<2xi64>'}}
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xi64>, tensor<4xui32>)
  return %0#1 : tensor<4xui32>
}

// -----

// CHECK-LABEL: func.func @words
func.func @words(%a: tensor<3xui64>) -> tensor<4xui32> {
  // expected-error@+1 {{is not implemented: a state of 'tensor<3xui64>'}}
  %0:2 = "stablehlo.rng_bit_generator"(%a) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %0#1 : tensor<4xui32>
}

// -----

// CHECK-LABEL: func.func @order
func.func @order(%a: tensor<4xcomplex<f32>>) -> tensor<4xi1> {
  // expected-error@+1 {{is not implemented: an order of complex numbers}}
  %0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
