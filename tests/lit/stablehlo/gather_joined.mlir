// Index vectors that name neighbouring dimensions, an element of each, are one index into their
// product, and what they say of dimensions that are taken whole is nothing. Out of range, gathers
// move each into it, and scatters leave out the update.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %x = stablehlo.constant dense<[[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]> : tensor<2x2x3xi32>
  %i = stablehlo.constant dense<[[0], [1], [-1], [5]]> : tensor<4x1xi32>
  %j = stablehlo.constant dense<[[2], [0], [1], [3]]> : tensor<4x1xi32>
  %ij = stablehlo.concatenate %i, %j, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  // CHECK: gather gather {{.*}} operand[2,6] {{.*}} offset_dims[0] collapsed[1] {{.*}} map[1] sizes[2,1]
  %0 = "stablehlo.gather"(%x, %ij) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1, 2], start_index_map = [1, 2], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 1>}> : (tensor<2x2x3xi32>, tensor<4x2xi32>) -> tensor<2x4xi32>
  check.expect_eq_const %0, dense<[[2, 3, 1, 5], [8, 9, 7, 11]]> : tensor<2x4xi32>

  // The other way round, in dimensions that are not the last.
  // CHECK: gather gather {{.*}} operand[4,3] {{.*}} offset_dims[1] collapsed[0] {{.*}} map[0] sizes[1,3]
  %1 = "stablehlo.gather"(%x, %ij) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<2x2x3xi32>, tensor<4x2xi32>) -> tensor<4x3xi32>
  check.expect_eq_const %1, dense<[[6, 7, 8], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32>

  // Rows that a vmapped dynamic_slice takes.
  // CHECK: gather gather {{.*}} operand[2,2,3] {{.*}} map[0] sizes[1,2,3]
  %2 = "stablehlo.gather"(%x, %ij) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2, 3>}> : (tensor<2x2x3xi32>, tensor<4x2xi32>) -> tensor<4x1x2x3xi32>
  check.expect_eq_const %2, dense<[[[[0, 1, 2], [3, 4, 5]]], [[[6, 7, 8], [9, 10, 11]]], [[[0, 1, 2], [3, 4, 5]]], [[[6, 7, 8], [9, 10, 11]]]]> : tensor<4x1x2x3xi32>

  // CHECK: gather scatter {{.*}} operand[2,6] {{.*}} collapsed[1] {{.*}} map[1] sum
  %u = stablehlo.constant dense<[[100, 200, 300, 400], [500, 600, 700, 800]]> : tensor<2x4xi32>
  %3 = "stablehlo.scatter"(%x, %ij, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2x2x3xi32>, tensor<4x2xi32>, tensor<2x4xi32>) -> tensor<2x2x3xi32>
  check.expect_eq_const %3, dense<[[[0, 1, 102], [203, 4, 5]], [[6, 7, 508], [609, 10, 11]]]> : tensor<2x2x3xi32>

  // Dimensions that are not neighbours stay two.
  // CHECK: gather gather {{.*}} operand[2,2,3] {{.*}} map[0,2] sizes[1,2,1]
  %4 = "stablehlo.gather"(%x, %ij) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2, 1>}> : (tensor<2x2x3xi32>, tensor<4x2xi32>) -> tensor<4x2xi32>
  check.expect_eq_const %4, dense<[[2, 5], [6, 9], [1, 4], [8, 11]]> : tensor<4x2xi32>
  return
}
