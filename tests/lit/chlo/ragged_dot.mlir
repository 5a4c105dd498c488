// RUN: terrazzo opt -split-input-file -verify-diagnostics %s | FileCheck %s

// CHECK: "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
func.func @rows(%a: tensor<6x4xf32>, %b: tensor<3x4x5xf32>, %g: tensor<3xi64>) -> tensor<6x5xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi64>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

func.func @groups(%a: tensor<6x4xf32>, %b: tensor<3x4x5xf32>, %g: tensor<2xi64>) -> tensor<6x5xf32> {
  // expected-error @+1 {{rhs group dimension is expected to have size=2, got 3}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<2xi64>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

func.func @none(%a: tensor<6x4xf32>, %b: tensor<3x4x5xf32>, %g: tensor<3xi64>) -> tensor<6x5xf32> {
  // expected-error @+1 {{There must be exactly one ragged dimension in the lhs}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      rhs_group_dimensions = [0]>}
      : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi64>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

func.func @ragged_dimension(%a: tensor<6x4xf32>, %b: tensor<3x4x5xf32>, %g: tensor<3xi64>) -> tensor<6x5xf32> {
  // expected-error @+1 {{Expects lhs_ragged_dim to be in range [0, lhs_rank) i.e. [0, 2). got: 7.}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [7], rhs_group_dimensions = [0]>}
      : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi64>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// -----

func.func @group_dimension(%a: tensor<6x4xf32>, %b: tensor<3x4x5xf32>, %g: tensor<3xi64>) -> tensor<6x5xf32> {
  // expected-error @+1 {{Expects rhs_group_dim to be in range [0, rhs_rank) i.e. [0, 3). got: -1.}}
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [-1]>}
      : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi64>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
