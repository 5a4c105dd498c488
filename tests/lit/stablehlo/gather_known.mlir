// What a gather takes by known indices, so much for each step along a dimension, is seen where it
// lies, and nobody computes them; not where some are moved into the operand, or follow no such rule.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK-NOT: iota
// CHECK: copy [4,3] %{{[0-9]+}}+1[2,1]
// CHECK-NOT: iota
// CHECK: copy [3] %{{[0-9]+}}+8[-4]
// CHECK: copy [2,3] %{{[0-9]+}}[1,3]
// CHECK: gather {{.*}} indices %{{[0-9]+}} [3,1]
// CHECK: gather {{.*}} indices %{{[0-9]+}} [3,1]
func.func @main() {
  %line = stablehlo.constant dense<[5, 1, 2, 3, 4, 5, 6, 7, 8, 9]> : tensor<10xi32>
  %square = stablehlo.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8]]> : tensor<3x3xi32>
  %c0 = stablehlo.constant dense<0> : tensor<4x3xi32>
  %c1 = stablehlo.constant dense<1> : tensor<4x3xi32>
  %c2 = stablehlo.constant dense<2> : tensor<4x3xi32>
  %c10 = stablehlo.constant dense<10> : tensor<4x3xi32>
  // windows: 2 i + k + 1, with the end's places wrapped
  %i = stablehlo.iota dim = 0 : tensor<4x3xi32>
  %k = stablehlo.iota dim = 0 : tensor<3xi32>
  %kk = stablehlo.broadcast_in_dim %k, dims = [1] : (tensor<3xi32>) -> tensor<4x3xi32>
  %twice = stablehlo.multiply %i, %c2 : tensor<4x3xi32>
  %sum = stablehlo.add %twice, %kk : tensor<4x3xi32>
  %at = stablehlo.add %sum, %c1 : tensor<4x3xi32>
  %less = stablehlo.compare LT, %at, %c0 : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x3xi1>
  %from_end = stablehlo.add %at, %c10 : tensor<4x3xi32>
  %wrapped = stablehlo.select %less, %from_end, %at : tensor<4x3xi1>, tensor<4x3xi32>
  %windows_at = stablehlo.reshape %wrapped : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
  %windows = "stablehlo.gather"(%line, %windows_at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1>}> : (tensor<10xi32>, tensor<4x3x1xi32>) -> tensor<4x3xi32>
  check.expect_eq_const %windows, dense<[[1, 2, 3], [3, 4, 5], [5, 6, 7], [7, 8, 9]]> : tensor<4x3xi32>
  // a diagonal backwards, two indices a place
  %down = stablehlo.iota dim = 0 : tensor<3x1xi32>
  %two = stablehlo.constant dense<2> : tensor<3x1xi32>
  %up = stablehlo.subtract %two, %down : tensor<3x1xi32>
  %d = stablehlo.concatenate %up, %up, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %diagonal = "stablehlo.gather"(%square, %d) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x3xi32>, tensor<3x2xi32>) -> tensor<3xi32>
  check.expect_eq_const %diagonal, dense<[8, 4, 0]> : tensor<3xi32>
  // columns, windows first
  %columns_at = stablehlo.constant dense<[[0, 1]]> : tensor<1x2xui8>
  %columns = "stablehlo.gather"(%square, %columns_at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 0>, slice_sizes = array<i64: 3, 1>}> : (tensor<3x3xi32>, tensor<1x2xui8>) -> tensor<2x3xi32>
  check.expect_eq_const %columns, dense<[[0, 3, 6], [1, 4, 7]]> : tensor<2x3xi32>
  // the last one is moved
  %over_at = stablehlo.constant dense<[[1], [2], [3]]> : tensor<3x1xi32>
  %over = "stablehlo.gather"(%square, %over_at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<3x3xi32>, tensor<3x1xi32>) -> tensor<3x3xi32>
  check.expect_eq_const %over, dense<[[3, 4, 5], [6, 7, 8], [6, 7, 8]]> : tensor<3x3xi32>
  // no rule
  %any_at = stablehlo.constant dense<[[0], [1], [0]]> : tensor<3x1xi32>
  %any = "stablehlo.gather"(%square, %any_at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<3x3xi32>, tensor<3x1xi32>) -> tensor<3x3xi32>
  check.expect_eq_const %any, dense<[[0, 1, 2], [3, 4, 5], [0, 1, 2]]> : tensor<3x3xi32>
  return
}
