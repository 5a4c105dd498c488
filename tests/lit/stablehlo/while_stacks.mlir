// What a loop keeps of each trip though it can be made of what it keeps anyway, by a number that the
// loop has inside, as JAX writes it; also where two manual computations have the loops.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: call undefined -> %{{[0-9]+}}[4,8]
// CHECK-NOT: call undefined
// CHECK: devices 2
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> tensor<16xf32> {
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {"a"}]>] out_shardings=[<@mesh, [{}, {"a"}]>, <@mesh, [{}, {"a"}]>] manual_axes={"a"} (%xs: tensor<4x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<4x8xf32>
    %1:3 = stablehlo.while(%i = %zero, %r = %none, %s = %none) : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>
    cond {
      %n = stablehlo.constant dense<4> : tensor<i32>
      %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %2 = stablehlo.dynamic_slice %xs, %i, %c0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
      %4 = stablehlo.tanh %3 : tensor<8xf32>
      %5 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %6 = stablehlo.subtract %5, %4 : tensor<8xf32>
      %7 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %8 = stablehlo.dynamic_update_slice %r, %7, %i, %c0 : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %9 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
      %10 = stablehlo.dynamic_update_slice %s, %9, %i, %c0 : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
      %11 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %11, %8, %10 : tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>
    }
    sdy.return %1#1, %1#2 : tensor<4x8xf32>, tensor<4x8xf32>
  } : (tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
  %1 = sdy.manual_computation(%0#0, %0#1) in_shardings=[<@mesh, [{}, {"a"}]>, <@mesh, [{}, {"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%r: tensor<4x8xf32>, %s: tensor<4x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %first = stablehlo.constant dense<0.0> : tensor<8xf32>
    %2:2 = stablehlo.while(%i = %zero, %sum = %first) : tensor<i32>, tensor<8xf32>
    cond {
      %n = stablehlo.constant dense<4> : tensor<i32>
      %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c3 = stablehlo.constant dense<3> : tensor<i32>
      %back = stablehlo.subtract %c3, %i : tensor<i32>
      %3 = stablehlo.dynamic_slice %s, %back, %c0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<8xf32>
      %5 = stablehlo.dynamic_slice %r, %back, %c0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %6 = stablehlo.reshape %5 : (tensor<1x8xf32>) -> tensor<8xf32>
      %7 = stablehlo.multiply %4, %6 : tensor<8xf32>
      %8 = stablehlo.multiply %7, %sum : tensor<8xf32>
      %9 = stablehlo.add %8, %6 : tensor<8xf32>
      %10 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %10, %9 : tensor<i32>, tensor<8xf32>
    }
    sdy.return %2#1 : tensor<8xf32>
  } : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
