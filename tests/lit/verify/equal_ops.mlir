// Of equal ops one is looked at; what differs anywhere is looked at by itself.
// RUN: terrazzo opt %s -verify-diagnostics -split-input-file

func.func @result(%a: tensor<2x3xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error@+2 {{inferred type(s) 'tensor<3x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %2 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @operand(%a: tensor<2x3xf32>, %b: tensor<3x3xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error@+2 {{inferred type(s) 'tensor<3x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @slot(%a: tensor<2x3xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // expected-error@+2 {{inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %1 = stablehlo.transpose %a, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @kind(%a: tensor<2xi32>) {
  %0 = stablehlo.negate %a : tensor<2xi32>
  // expected-error@+1 {{op operand #0 must be ranked tensor of}}
  %1 = "stablehlo.tanh"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @number(%a: tensor<2xf32>) {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  // expected-error@+2 {{inferred type(s) 'tensor<6xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %1 = stablehlo.concatenate %a, %a, %a, dim = 0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @sharding(%a: tensor<2xf32>) {
  %0 = stablehlo.negate %a : tensor<2xf32>
  // expected-error@+1 {{unknown axis name: "y"}}
  %1 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<2xf32>
  return
}
