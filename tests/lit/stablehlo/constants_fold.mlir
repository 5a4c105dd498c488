// What is made of arrays that the program has alone is made when it is compiled: by an op, by
// reductions, in a loop from what that only hands on, and where single numbers are scattered. Values
// that are repeated or counted stay, as does what depends on an argument, is larger than what it is
// made of, or has a barrier in front of it.
// RUN: env TERRAZZO_FOLD=1 terrazzo run %s --dump flatten --dry-run 2>&1 | FileCheck %s
// RUN: terrazzo run %s --dump flatten --dry-run 2>&1 | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: after flatten
// CHECK-LABEL: func.func @main
// OFF-LABEL: after flatten
// OFF: stablehlo.sort
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>)
    -> (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<8xf32>, tensor<8192xf32>, tensor<4xf32>, tensor<3xi32>, tensor<2xf32>, tensor<4xbf16>) {
  %c = stablehlo.constant dense<[4.0, 9.0, 1.0, 16.0]> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>

  // An op, and a sum.
  // CHECK-DAG: %[[ROOT:.*]] = stablehlo.constant dense<[2.000000e+00, 3.000000e+00, 1.000000e+00, 4.000000e+00]> : tensor<4xf32>
  // CHECK-DAG: %[[MUL:.*]] = stablehlo.multiply %arg0, %[[ROOT]]
  %0 = stablehlo.sqrt %c : tensor<4xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<4xf32>

  // CHECK-DAG: stablehlo.constant dense<3.000000e+01> : tensor<f32>
  %2 = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>

  // In a loop: sorted, by what it hands on.
  // CHECK: stablehlo.while
  // CHECK-NOT: stablehlo.sort
  // CHECK: %[[SORTED:.*]] = stablehlo.constant dense<[1.000000e+00, 4.000000e+00, 9.000000e+00, 1.600000e+01]>
  // CHECK: stablehlo.add %{{.*}}, %[[SORTED]]
  %start = stablehlo.constant dense<0> : tensor<i32>
  %3:3 = stablehlo.while(%i = %start, %v = %x, %table = %c) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %s = "stablehlo.sort"(%table) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %lt = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %sum = stablehlo.add %v, %s : tensor<4xf32>
    stablehlo.return %next, %sum, %table : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }

  // Counted and repeated values stay.
  // CHECK: stablehlo.iota
  // CHECK: stablehlo.add
  %4 = stablehlo.iota dim = 0 : tensor<8xf32>
  %five = stablehlo.constant dense<5.0> : tensor<8xf32>
  %5 = stablehlo.add %4, %five : tensor<8xf32>

  // Larger than what it is made of; what is repeated is folded by itself.
  // CHECK: stablehlo.broadcast_in_dim %[[ROOT]]
  // CHECK: stablehlo.negate
  %6 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x2048xf32>
  %7 = stablehlo.negate %6 : tensor<4x2048xf32>
  %8 = stablehlo.reshape %7 : (tensor<4x2048xf32>) -> tensor<8192xf32>

  // CHECK: stablehlo.optimization_barrier
  // CHECK: stablehlo.exponential
  %9 = stablehlo.optimization_barrier %c : tensor<4xf32>
  %10 = stablehlo.exponential %9 : tensor<4xf32>

  // Of single numbers, but dear.
  // CHECK-NOT: stablehlo.scatter
  %none = stablehlo.constant dense<0> : tensor<3xi32>
  %at = stablehlo.constant dense<1> : tensor<1x1xi32>
  %seven = stablehlo.constant dense<7> : tensor<1xi32>
  %11 = "stablehlo.scatter"(%none, %at, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<3xi32>, tensor<1x1xi32>, tensor<1xi32>) -> tensor<3xi32>

  // CHECK-NOT: stablehlo.slice
  // CHECK-NOT: stablehlo.convert
  %12 = stablehlo.slice %0 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
  %13 = stablehlo.cosine %12 : tensor<2xf32>
  %14 = stablehlo.convert %c : (tensor<4xf32>) -> tensor<4xbf16>
  return %1, %2, %3#1, %5, %8, %10, %11, %13, %14 : tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<8xf32>, tensor<8192xf32>, tensor<4xf32>, tensor<3xi32>, tensor<2xf32>, tensor<4xbf16>
}
