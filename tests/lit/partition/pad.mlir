// What shardings do not divide is padded: sums over zeros, collectives at whose ends sizes change,
// loops, constants; what cannot be padded is named.
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics -sdy-pad-for-divisibility | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=3]>

// The product's rows may hold anything; the sum over them needs zeros.
// CHECK-LABEL: func.func @twice(
func.func @twice(%arg0: tensor<5x4xf32>, %arg1: tensor<5x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00>
  // CHECK-NEXT: %[[P:.*]] = stablehlo.pad %arg0, %[[Z]], low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  // CHECK-NEXT: %[[A:.*]] = sdy.all_slice [{"y"}, {}] %[[P]] {{.*}} : tensor<6x4xf32>
  // CHECK-NEXT: %[[E:.*]] = stablehlo.exponential %[[A]] {{.*}} : tensor<6x4xf32>
  // CHECK: %[[I:.*]] = stablehlo.iota dim = 0 {{.*}} : tensor<6x4xi32>
  // CHECK: %[[N:.*]] = stablehlo.constant dense<5> : tensor<i32>
  // CHECK: %[[M:.*]] = stablehlo.compare LT, %[[I]],
  // CHECK: %[[S:.*]] = stablehlo.select %[[M]], %[[E]],
  // CHECK: stablehlo.dot_general %[[S]], %[[A]], contracting_dims = [0] x [0] {{.*}} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  %0 = sdy.all_slice [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<5x4xf32>
  %1 = stablehlo.exponential %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<5x4xf32>
  %2 = stablehlo.dot_general %1, %0, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A permutation changes no sizes; a gather of both dimensions cuts both.
// CHECK-LABEL: func.func @moved(
func.func @moved(%arg0: tensor<5x5xi8>) -> tensor<5x5xi8> {
  // CHECK: stablehlo.pad %arg0, {{.*}} high = [1, 1]
  // CHECK: sdy.all_slice {{.*}} : tensor<6x6xi8>
  // CHECK: %[[G:.*]] = sdy.all_gather [{"x"}, {"y"}] {{.*}} : tensor<6x6xi8>
  // CHECK-NEXT: %[[T:.*]] = stablehlo.slice %[[G]] [0:5, 0:5] {{.*}} -> tensor<5x5xi8>
  // CHECK-NEXT: return %[[T]]
  %0 = sdy.all_slice [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<5x5xi8>
  %1 = sdy.all_gather [{"x"}, {"y"}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<5x5xi8>
  return %1 : tensor<5x5xi8>
}

// CHECK-LABEL: func.func @loop(
func.func @loop(%arg0: tensor<i32>) -> tensor<5xi32> {
  // CHECK: %[[C:.*]] = stablehlo.constant {{.*}} dense<[1, 2, 3, 4, 5, 0]> : tensor<6xi32>
  // CHECK: %[[W:.*]]:2 = stablehlo.while(%[[K:.*]] = %arg0, %[[V:.*]] = %[[C]]) : tensor<i32>, tensor<6xi32>
  // CHECK: stablehlo.add %[[V]], %[[V]] {{.*}} : tensor<6xi32>
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %0:2 = stablehlo.while(%k = %arg0, %v = %c) : tensor<i32>, tensor<5xi32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"y"}]>]>}
  cond {
    %lim = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %k, %lim : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.add %k, %one : tensor<i32>
    %d = stablehlo.add %v, %v {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<5xi32>
    stablehlo.return %n, %d : tensor<i32>, tensor<5xi32>
  }
  // CHECK: sdy.all_gather [{"y"}] %[[W]]#1
  // CHECK-NEXT: stablehlo.slice {{.*}} [0:5]
  %1 = sdy.all_gather [{"y"}] %0#1 out_sharding=<@mesh, [{}]> : tensor<5xi32>
  return %1 : tensor<5xi32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @moves(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.slice' op is not implemented: moves elements between shards along dimension 0}}
  %0 = stablehlo.slice %arg0 [0:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<3xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @leaves(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<3xf32>
  // expected-error @+1 {{'func.return' op takes no operand that is padded}}
  return %0 : tensor<3xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @disagrees(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  %0 = sdy.all_slice [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]> : tensor<3xf32>
  // expected-error @+1 {{'stablehlo.abs' op makes tensor<4xf32> where its sharding asks for tensor<3xf32>}}
  %1 = stablehlo.abs %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
