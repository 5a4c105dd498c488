// An image that is enlarged to the nearest pixel: rows, and then columns, are taken several times by
// numbers that are computed of a count, or that are given; both are one copy. Not where a number
// comes another number of times, or one is out of range.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s
// RUN: stablehlo-translate --interpret %s

// CHECK-NOT: gather
// CHECK: copy [3,2,2,2,2] %{{[0-9]+}}[4,0,2,0,1]
// CHECK-NOT: gather
// CHECK: copy [2,3] %{{[0-9]+}}+1[2,0]
// CHECK-NOT: copy
func.func @main() {
  %x = stablehlo.constant dense<[[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]> : tensor<3x2x2xi32>
  %ri = stablehlo.iota dim = 0 : tensor<6xf32>
  %rh = stablehlo.constant dense<0.5> : tensor<6xf32>
  %ra = stablehlo.add %ri, %rh : tensor<6xf32>
  %rm = stablehlo.constant dense<3.0> : tensor<6xf32>
  %rb = stablehlo.multiply %ra, %rm : tensor<6xf32>
  %rn = stablehlo.constant dense<6.0> : tensor<6xf32>
  %rq = stablehlo.divide %rb, %rn : tensor<6xf32>
  %rf = stablehlo.floor %rq : tensor<6xf32>
  %rk = stablehlo.convert %rf : (tensor<6xf32>) -> tensor<6xi32>
  %rz = stablehlo.constant dense<0> : tensor<6xi32>
  %rl = stablehlo.compare LT, %rk, %rz : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
  %rs = stablehlo.constant dense<3> : tensor<6xi32>
  %rw = stablehlo.add %rk, %rs : tensor<6xi32>
  %rc = stablehlo.select %rl, %rw, %rk : tensor<6xi1>, tensor<6xi32>
  %r = stablehlo.reshape %rc : (tensor<6xi32>) -> tensor<6x1xi32>
  %ci = stablehlo.iota dim = 0 : tensor<4xf32>
  %ch = stablehlo.constant dense<0.5> : tensor<4xf32>
  %ca = stablehlo.add %ci, %ch : tensor<4xf32>
  %cm = stablehlo.constant dense<2.0> : tensor<4xf32>
  %cb = stablehlo.multiply %ca, %cm : tensor<4xf32>
  %cn = stablehlo.constant dense<4.0> : tensor<4xf32>
  %cq = stablehlo.divide %cb, %cn : tensor<4xf32>
  %cf = stablehlo.floor %cq : tensor<4xf32>
  %ck = stablehlo.convert %cf : (tensor<4xf32>) -> tensor<4xi32>
  %cz = stablehlo.constant dense<0> : tensor<4xi32>
  %cl = stablehlo.compare LT, %ck, %cz : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %cs = stablehlo.constant dense<2> : tensor<4xi32>
  %cw = stablehlo.add %ck, %cs : tensor<4xi32>
  %cc = stablehlo.select %cl, %cw, %ck : tensor<4xi1>, tensor<4xi32>
  %c = stablehlo.reshape %cc : (tensor<4xi32>) -> tensor<4x1xi32>
  %0 = "stablehlo.gather"(%x, %r) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x2x2xi32>, tensor<6x1xi32>) -> tensor<6x2x2xi32>
  %1 = "stablehlo.gather"(%0, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 6, 1, 2>}> : (tensor<6x2x2xi32>, tensor<4x1xi32>) -> tensor<6x4x2xi32>
  check.expect_eq_const %1, dense<[[[0, 1], [0, 1], [2, 3], [2, 3]], [[0, 1], [0, 1], [2, 3], [2, 3]], [[4, 5], [4, 5], [6, 7], [6, 7]], [[4, 5], [4, 5], [6, 7], [6, 7]], [[8, 9], [8, 9], [10, 11], [10, 11]], [[8, 9], [8, 9], [10, 11], [10, 11]]]> : tensor<6x4x2xi32>
  %line = stablehlo.constant dense<[5, 1, 2, 3, 4, 6]> : tensor<6xi32>
  %ai = stablehlo.constant dense<[[1], [1], [1], [3], [3], [3]]> : tensor<6x1xi32>
  %a = "stablehlo.gather"(%line, %ai) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<6xi32>, tensor<6x1xi32>) -> tensor<6xi32>
  check.expect_eq_const %a, dense<[1, 1, 1, 3, 3, 3]> : tensor<6xi32>
  %bi = stablehlo.constant dense<[[0], [0], [1], [1], [1], [2]]> : tensor<6x1xi32>
  %b = "stablehlo.gather"(%line, %bi) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<6xi32>, tensor<6x1xi32>) -> tensor<6xi32>
  check.expect_eq_const %b, dense<[5, 5, 1, 1, 1, 2]> : tensor<6xi32>
  %di = stablehlo.constant dense<[[4], [4], [6], [6]]> : tensor<4x1xi32>
  %d = "stablehlo.gather"(%line, %di) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<6xi32>, tensor<4x1xi32>) -> tensor<4xi32>
  check.expect_eq_const %d, dense<[4, 4, 6, 6]> : tensor<4xi32>
  return
}
