// One window at a place of the run is a slice, what is combined with it, and an update. Where a
// counter says that it is inside, nobody asks whether it is; a gather is moved inside, as slices are.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

func.func @main(%x: tensor<8x4xf32> {tf.aliasing_output = 0 : i32}, %u: tensor<4xf32>, %k: tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<7> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %j = %one, %a = %x) : tensor<i32>, tensor<i32>, tensor<8x4xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %less = stablehlo.compare LT, %j, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %wrapped = stablehlo.add %j, %eight : tensor<i32>
    %p = stablehlo.select %less, %wrapped, %j : tensor<i1>, tensor<i32>
    %at = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %from = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %row = "stablehlo.gather"(%a, %from) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<1xi32>) -> tensor<4xf32>
    %t = stablehlo.multiply %row, %u : tensor<4xf32>
    %b = "stablehlo.scatter"(%a, %at, %t) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      stablehlo.return %r : tensor<f32>
    }) : (tensor<8x4xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<8x4xf32>
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %j1 = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %i1, %j1, %b : tensor<i32>, tensor<i32>, tensor<8x4xf32>
  }
  %any = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<1xi32>
  %1 = "stablehlo.scatter"(%0#2, %any, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %0#2, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// CHECK: jump_unless
// CHECK-NEXT: stablehlo.dynamic_slice: dynamic slice %3[8,4] [[row:%[0-9]+]][1,4] at [[i:%[0-9]+]] {{%[0-9]+}}
// CHECK-NEXT: stablehlo.multiply: loop [4] in [[row]][1] %1[1] out [[t:%[0-9]+]][1]
// CHECK-NEXT: stablehlo.dynamic_update_slice: dynamic update %3[8,4] [[t]][1,4] at [[j:%[0-9]+]] {{%[0-9]+}}
// CHECK-NEXT: stablehlo.add: loop [] in [[i]][] out [[i]][]
// CHECK: stablehlo.while: jump
// CHECK-NEXT: stablehlo.dynamic_slice: dynamic slice %3[8,4] [[old:%[0-9]+]][1,4] at %2
// CHECK-NEXT: stablehlo.compare: loop [] in %2[] out [[inside:%[0-9]+]][]
// CHECK-NEXT: stablehlo.select: loop [1,4] in [[inside]][0,0] [[old]][4,1] %1[4,1] out [[new:%[0-9]+]][4,1]
// CHECK: dynamic update %4[8,4] [[new]][1,4] at %2
