// Rows by their place as jnp.take has them: from the end where an index is negative, something else
// where it is out of range. The gather does all of it, also of rows that are longer than those that
// are moved several at once.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: terrazzo run %s

// CHECK: gather gather {{.*}} wrap 4 fill sizes[1,3]
// CHECK: gather gather {{.*}} wrap 4 fill sizes[1,2000]
// CHECK-NOT: stablehlo.select
func.func @main() {
  %list = stablehlo.constant dense<[1, 4, -1, 0, -5]> : tensor<5xi32>
  %j = stablehlo.optimization_barrier %list : tensor<5xi32>
  %x = stablehlo.iota dim = 0 : tensor<4x3xf32>
  %y = stablehlo.iota dim = 0 : tensor<4x2000xf32>
  %zero = stablehlo.constant dense<0> : tensor<5xi32>
  %four = stablehlo.constant dense<4> : tensor<5xi32>
  %less = stablehlo.compare LT, %j, %zero : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %from = stablehlo.add %j, %four : tensor<5xi32>
  %at = stablehlo.select %less, %from, %j : tensor<5xi1>, tensor<5xi32>
  %rows = stablehlo.reshape %at : (tensor<5xi32>) -> tensor<5x1xi32>
  %first = stablehlo.reshape %zero : (tensor<5xi32>) -> tensor<5x1xi32>
  %last = stablehlo.constant dense<3> : tensor<5x1xi32>
  %low = stablehlo.compare GE, %rows, %first : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x1xi1>
  %high = stablehlo.compare LE, %rows, %last : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x1xi1>
  %both = stablehlo.and %low, %high : tensor<5x1xi1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %inside = stablehlo.reduce(%both init: %true) applies stablehlo.and across dimensions = [1] : (tensor<5x1xi1>, tensor<i1>) -> tensor<5xi1>

  %short = "stablehlo.gather"(%x, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  %a = stablehlo.broadcast_in_dim %inside, dims = [0] : (tensor<5xi1>) -> tensor<5x3xi1>
  %sevens = stablehlo.constant dense<7.0> : tensor<5x3xf32>
  %s = stablehlo.select %a, %short, %sevens : tensor<5x3xi1>, tensor<5x3xf32>

  %long = "stablehlo.gather"(%y, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2000>}> : (tensor<4x2000xf32>, tensor<5x1xi32>) -> tensor<5x2000xf32>
  %b = stablehlo.broadcast_in_dim %inside, dims = [0] : (tensor<5xi1>) -> tensor<5x2000xi1>
  %nines = stablehlo.constant dense<9.0> : tensor<5x2000xf32>
  %l = stablehlo.select %b, %long, %nines : tensor<5x2000xi1>, tensor<5x2000xf32>

  check.expect_eq_const %s, dense<[[1.0, 1.0, 1.0], [7.0, 7.0, 7.0], [3.0, 3.0, 3.0], [0.0, 0.0, 0.0], [7.0, 7.0, 7.0]]> : tensor<5x3xf32>
  %ends = stablehlo.slice %l [0:5, 0:2000:1999] : (tensor<5x2000xf32>) -> tensor<5x2xf32>
  check.expect_eq_const %ends, dense<[[1.0, 1.0], [9.0, 9.0], [3.0, 3.0], [0.0, 0.0], [9.0, 9.0]]> : tensor<5x2xf32>
  return
}
