// Indices that count from the end, and elements that are something else where an index is out of
// range, are a gather's and a scatter's own affair; unless somebody else needs the wrapped indices.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

func.func @main(%x: tensor<8x16xf32>, %i: tensor<8x5xi32>, %k: tensor<8x5xi32>, %u: tensor<5xf32>, %j: tensor<5xi32>, %y: tensor<9xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xi32>, tensor<9xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<8x5xi32>
  %size = stablehlo.constant dense<16> : tensor<8x5xi32>
  %0 = stablehlo.compare LT, %i, %zero : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %1 = stablehlo.add %i, %size : tensor<8x5xi32>
  %2 = stablehlo.select %0, %1, %i : tensor<8x5xi1>, tensor<8x5xi32>
  %3 = stablehlo.reshape %2 : (tensor<8x5xi32>) -> tensor<8x5x1xi32>
  %last = stablehlo.constant dense<15> : tensor<8x5xi32>
  %4 = "stablehlo.gather"(%x, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<8x5x1xi32>) -> tensor<8x5xf32>
  %5 = stablehlo.reshape %3 : (tensor<8x5x1xi32>) -> tensor<8x5xi32>
  %6 = stablehlo.compare GE, %5, %zero : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %7 = stablehlo.compare LE, %5, %last : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %8 = stablehlo.and %6, %7 : tensor<8x5xi1>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<8x5xf32>
  %9 = stablehlo.select %8, %4, %nan : tensor<8x5xi1>, tensor<8x5xf32>

  %10 = stablehlo.compare LT, %k, %zero : (tensor<8x5xi32>, tensor<8x5xi32>) -> tensor<8x5xi1>
  %11 = stablehlo.add %k, %size : tensor<8x5xi32>
  %12 = stablehlo.select %10, %11, %k : tensor<8x5xi1>, tensor<8x5xi32>
  %13 = stablehlo.reshape %12 : (tensor<8x5xi32>) -> tensor<8x5x1xi32>
  %14 = "stablehlo.gather"(%x, %13) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<8x5x1xi32>) -> tensor<8x5xf32>

  %none = stablehlo.constant dense<0> : tensor<5xi32>
  %nine = stablehlo.constant dense<9> : tensor<5xi32>
  %20 = stablehlo.compare LT, %j, %none : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %21 = stablehlo.add %j, %nine : tensor<5xi32>
  %22 = stablehlo.select %20, %21, %j : tensor<5xi1>, tensor<5xi32>
  %23 = stablehlo.reshape %22 : (tensor<5xi32>) -> tensor<5x1xi32>
  %24 = "stablehlo.scatter"(%y, %23, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<9xf32>
  return %9, %14, %12, %24 : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xi32>, tensor<9xf32>
}
// CHECK: workspace 0
// CHECK: gather gather %0,%6 operand[8,16] indices %1 {{.*}} wrap 16 fill sizes[1,1]
// CHECK-NEXT: stablehlo.select: loop [8,5] in %2[5,1] out %8[5,1]
// CHECK-NEXT: gather gather %0,%7 operand[8,16] indices %8 {{.*}} map[1] sizes[1,1]
// CHECK-NEXT: stablehlo.scatter: copy [9] %5[1] -> %9[1]
// CHECK-NEXT: gather scatter %9,%3 operand[9] indices %4 {{.*}} wrap 9 sum
