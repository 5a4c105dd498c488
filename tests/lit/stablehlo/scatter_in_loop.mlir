// In a loop, what is at a place of the run is written behind a jump, and left out where that is not
// inside, whatever the type of the index; what is read there is moved inside.
// RUN: stablehlo-translate --interpret %s
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: stablehlo.if: jump_unless
// CHECK: dynamic update
// CHECK-NOT: {{: scatter}}
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %p0 = stablehlo.constant dense<[3, -1, 0, 5, 6, -6, -2147483648, 2147483647, 5, 1]> : tensor<10xi32>
  %n0 = stablehlo.constant dense<10> : tensor<i32>
  %u0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %x0 = stablehlo.constant dense<0.0> : tensor<6x5xf32>
  %r0:3 = stablehlo.while(%i = %zero, %a = %x0, %s = %f0) : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at0 = stablehlo.dynamic_slice %p0, %i, sizes = [1] : (tensor<10xi32>, tensor<i32>) -> tensor<1xi32>
    %b0 = "stablehlo.scatter"(%a, %at0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<1xi32>, tensor<5xf32>) -> tensor<6x5xf32>
    %g0 = "stablehlo.gather"(%b0, %at0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xf32>, tensor<1xi32>) -> tensor<5xf32>
    %sum0 = stablehlo.reduce(%g0 init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %t0 = stablehlo.add %s, %sum0 : tensor<f32>
    %j0 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j0, %b0, %t0 : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  }
  check.expect_eq_const %r0#1, dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [2.0, 4.0, 6.0, 8.0, 10.0]]> : tensor<6x5xf32>
  check.expect_eq_const %r0#2, dense<150.0> : tensor<f32>
  %p1 = stablehlo.constant dense<[3, -1, 0, 5, 6, -6, -2147483648, 2147483647, 5, 1]> : tensor<10xi32>
  %n1 = stablehlo.constant dense<10> : tensor<i32>
  %u1 = stablehlo.constant dense<3.0> : tensor<f32>
  %x1 = stablehlo.constant dense<0.0> : tensor<6xf32>
  %r1:3 = stablehlo.while(%i = %zero, %a = %x1, %s = %f0) : tensor<i32>, tensor<6xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at1 = stablehlo.dynamic_slice %p1, %i, sizes = [1] : (tensor<10xi32>, tensor<i32>) -> tensor<1xi32>
    %b1 = "stablehlo.scatter"(%a, %at1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
    %g1 = "stablehlo.gather"(%b1, %at1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi32>) -> tensor<f32>
    %sum1 = stablehlo.add %g1, %f0 : tensor<f32>
    %t1 = stablehlo.add %s, %sum1 : tensor<f32>
    %j1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j1, %b1, %t1 : tensor<i32>, tensor<6xf32>, tensor<f32>
  }
  check.expect_eq_const %r1#1, dense<[3.0, 3.0, 0.0, 3.0, 0.0, 6.0]> : tensor<6xf32>
  check.expect_eq_const %r1#2, dense<30.0> : tensor<f32>
  %p2 = stablehlo.constant dense<[3, -1, 0, 5, 6, 4294967296, -4294967295, -9223372036854775808, 9223372036854775807, 5]> : tensor<10xi64>
  %n2 = stablehlo.constant dense<10> : tensor<i32>
  %u2 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %x2 = stablehlo.constant dense<0.0> : tensor<6x5xf32>
  %r2:3 = stablehlo.while(%i = %zero, %a = %x2, %s = %f0) : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at2 = stablehlo.dynamic_slice %p2, %i, sizes = [1] : (tensor<10xi64>, tensor<i32>) -> tensor<1xi64>
    %b2 = "stablehlo.scatter"(%a, %at2, %u2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<1xi64>, tensor<5xf32>) -> tensor<6x5xf32>
    %g2 = "stablehlo.gather"(%b2, %at2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xf32>, tensor<1xi64>) -> tensor<5xf32>
    %sum2 = stablehlo.reduce(%g2 init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %t2 = stablehlo.add %s, %sum2 : tensor<f32>
    %j2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j2, %b2, %t2 : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  }
  check.expect_eq_const %r2#1, dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [2.0, 4.0, 6.0, 8.0, 10.0]]> : tensor<6x5xf32>
  check.expect_eq_const %r2#2, dense<150.0> : tensor<f32>
  %p3 = stablehlo.constant dense<[3, -1, 0, 5, 6, 4294967296, -4294967295, -9223372036854775808, 9223372036854775807, 5]> : tensor<10xi64>
  %n3 = stablehlo.constant dense<10> : tensor<i32>
  %u3 = stablehlo.constant dense<3.0> : tensor<f32>
  %x3 = stablehlo.constant dense<0.0> : tensor<6xf32>
  %r3:3 = stablehlo.while(%i = %zero, %a = %x3, %s = %f0) : tensor<i32>, tensor<6xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at3 = stablehlo.dynamic_slice %p3, %i, sizes = [1] : (tensor<10xi64>, tensor<i32>) -> tensor<1xi64>
    %b3 = "stablehlo.scatter"(%a, %at3, %u3) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi64>, tensor<f32>) -> tensor<6xf32>
    %g3 = "stablehlo.gather"(%b3, %at3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi64>) -> tensor<f32>
    %sum3 = stablehlo.add %g3, %f0 : tensor<f32>
    %t3 = stablehlo.add %s, %sum3 : tensor<f32>
    %j3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j3, %b3, %t3 : tensor<i32>, tensor<6xf32>, tensor<f32>
  }
  check.expect_eq_const %r3#1, dense<[3.0, 0.0, 0.0, 3.0, 0.0, 6.0]> : tensor<6xf32>
  check.expect_eq_const %r3#2, dense<30.0> : tensor<f32>
  %p4 = stablehlo.constant dense<[3, 4294967295, 0, 5, 6, 2147483648, 2]> : tensor<7xui32>
  %n4 = stablehlo.constant dense<7> : tensor<i32>
  %u4 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %x4 = stablehlo.constant dense<0.0> : tensor<6x5xf32>
  %r4:3 = stablehlo.while(%i = %zero, %a = %x4, %s = %f0) : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at4 = stablehlo.dynamic_slice %p4, %i, sizes = [1] : (tensor<7xui32>, tensor<i32>) -> tensor<1xui32>
    %b4 = "stablehlo.scatter"(%a, %at4, %u4) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<1xui32>, tensor<5xf32>) -> tensor<6x5xf32>
    %g4 = "stablehlo.gather"(%b4, %at4) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xf32>, tensor<1xui32>) -> tensor<5xf32>
    %sum4 = stablehlo.reduce(%g4 init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %t4 = stablehlo.add %s, %sum4 : tensor<f32>
    %j4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j4, %b4, %t4 : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  }
  check.expect_eq_const %r4#1, dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<6x5xf32>
  check.expect_eq_const %r4#2, dense<90.0> : tensor<f32>
  %p5 = stablehlo.constant dense<[3, 4294967295, 0, 5, 6, 2147483648, 2]> : tensor<7xui32>
  %n5 = stablehlo.constant dense<7> : tensor<i32>
  %u5 = stablehlo.constant dense<3.0> : tensor<f32>
  %x5 = stablehlo.constant dense<0.0> : tensor<6xf32>
  %r5:3 = stablehlo.while(%i = %zero, %a = %x5, %s = %f0) : tensor<i32>, tensor<6xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at5 = stablehlo.dynamic_slice %p5, %i, sizes = [1] : (tensor<7xui32>, tensor<i32>) -> tensor<1xui32>
    %b5 = "stablehlo.scatter"(%a, %at5, %u5) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xui32>, tensor<f32>) -> tensor<6xf32>
    %g5 = "stablehlo.gather"(%b5, %at5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui32>) -> tensor<f32>
    %sum5 = stablehlo.add %g5, %f0 : tensor<f32>
    %t5 = stablehlo.add %s, %sum5 : tensor<f32>
    %j5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j5, %b5, %t5 : tensor<i32>, tensor<6xf32>, tensor<f32>
  }
  check.expect_eq_const %r5#1, dense<[3.0, 0.0, 3.0, 3.0, 0.0, 3.0]> : tensor<6xf32>
  check.expect_eq_const %r5#2, dense<18.0> : tensor<f32>
  %p6 = stablehlo.constant dense<[3, -1, 0, 5, 6, -128, 127, 2]> : tensor<8xi8>
  %n6 = stablehlo.constant dense<8> : tensor<i32>
  %u6 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %x6 = stablehlo.constant dense<0.0> : tensor<6x5xf32>
  %r6:3 = stablehlo.while(%i = %zero, %a = %x6, %s = %f0) : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at6 = stablehlo.dynamic_slice %p6, %i, sizes = [1] : (tensor<8xi8>, tensor<i32>) -> tensor<1xi8>
    %b6 = "stablehlo.scatter"(%a, %at6, %u6) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<1xi8>, tensor<5xf32>) -> tensor<6x5xf32>
    %g6 = "stablehlo.gather"(%b6, %at6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xf32>, tensor<1xi8>) -> tensor<5xf32>
    %sum6 = stablehlo.reduce(%g6 init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %t6 = stablehlo.add %s, %sum6 : tensor<f32>
    %j6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j6, %b6, %t6 : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  }
  check.expect_eq_const %r6#1, dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<6x5xf32>
  check.expect_eq_const %r6#2, dense<105.0> : tensor<f32>
  %p7 = stablehlo.constant dense<[3, -1, 0, 5, 6, -128, 127, 2]> : tensor<8xi8>
  %n7 = stablehlo.constant dense<8> : tensor<i32>
  %u7 = stablehlo.constant dense<3.0> : tensor<f32>
  %x7 = stablehlo.constant dense<0.0> : tensor<6xf32>
  %r7:3 = stablehlo.while(%i = %zero, %a = %x7, %s = %f0) : tensor<i32>, tensor<6xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n7 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at7 = stablehlo.dynamic_slice %p7, %i, sizes = [1] : (tensor<8xi8>, tensor<i32>) -> tensor<1xi8>
    %b7 = "stablehlo.scatter"(%a, %at7, %u7) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi8>, tensor<f32>) -> tensor<6xf32>
    %g7 = "stablehlo.gather"(%b7, %at7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi8>) -> tensor<f32>
    %sum7 = stablehlo.add %g7, %f0 : tensor<f32>
    %t7 = stablehlo.add %s, %sum7 : tensor<f32>
    %j7 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j7, %b7, %t7 : tensor<i32>, tensor<6xf32>, tensor<f32>
  }
  check.expect_eq_const %r7#1, dense<[3.0, 0.0, 3.0, 3.0, 0.0, 3.0]> : tensor<6xf32>
  check.expect_eq_const %r7#2, dense<21.0> : tensor<f32>
  %p8 = stablehlo.constant dense<[3, 255, 0, 5, 6, 128, 2]> : tensor<7xui8>
  %n8 = stablehlo.constant dense<7> : tensor<i32>
  %u8 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %x8 = stablehlo.constant dense<0.0> : tensor<6x5xf32>
  %r8:3 = stablehlo.while(%i = %zero, %a = %x8, %s = %f0) : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n8 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at8 = stablehlo.dynamic_slice %p8, %i, sizes = [1] : (tensor<7xui8>, tensor<i32>) -> tensor<1xui8>
    %b8 = "stablehlo.scatter"(%a, %at8, %u8) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<1xui8>, tensor<5xf32>) -> tensor<6x5xf32>
    %g8 = "stablehlo.gather"(%b8, %at8) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xf32>, tensor<1xui8>) -> tensor<5xf32>
    %sum8 = stablehlo.reduce(%g8 init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %t8 = stablehlo.add %s, %sum8 : tensor<f32>
    %j8 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j8, %b8, %t8 : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  }
  check.expect_eq_const %r8#1, dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<6x5xf32>
  check.expect_eq_const %r8#2, dense<90.0> : tensor<f32>
  %p9 = stablehlo.constant dense<[3, 255, 0, 5, 6, 128, 2]> : tensor<7xui8>
  %n9 = stablehlo.constant dense<7> : tensor<i32>
  %u9 = stablehlo.constant dense<3.0> : tensor<f32>
  %x9 = stablehlo.constant dense<0.0> : tensor<6xf32>
  %r9:3 = stablehlo.while(%i = %zero, %a = %x9, %s = %f0) : tensor<i32>, tensor<6xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n9 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at9 = stablehlo.dynamic_slice %p9, %i, sizes = [1] : (tensor<7xui8>, tensor<i32>) -> tensor<1xui8>
    %b9 = "stablehlo.scatter"(%a, %at9, %u9) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xui8>, tensor<f32>) -> tensor<6xf32>
    %g9 = "stablehlo.gather"(%b9, %at9) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui8>) -> tensor<f32>
    %sum9 = stablehlo.add %g9, %f0 : tensor<f32>
    %t9 = stablehlo.add %s, %sum9 : tensor<f32>
    %j9 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j9, %b9, %t9 : tensor<i32>, tensor<6xf32>, tensor<f32>
  }
  check.expect_eq_const %r9#1, dense<[3.0, 0.0, 3.0, 3.0, 0.0, 3.0]> : tensor<6xf32>
  check.expect_eq_const %r9#2, dense<18.0> : tensor<f32>
  %p10 = stablehlo.constant dense<[1, -32768, 32767, 5]> : tensor<4xi16>
  %n10 = stablehlo.constant dense<4> : tensor<i32>
  %u10 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %x10 = stablehlo.constant dense<0.0> : tensor<6x5xf32>
  %r10:3 = stablehlo.while(%i = %zero, %a = %x10, %s = %f0) : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n10 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at10 = stablehlo.dynamic_slice %p10, %i, sizes = [1] : (tensor<4xi16>, tensor<i32>) -> tensor<1xi16>
    %b10 = "stablehlo.scatter"(%a, %at10, %u10) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<1xi16>, tensor<5xf32>) -> tensor<6x5xf32>
    %g10 = "stablehlo.gather"(%b10, %at10) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xf32>, tensor<1xi16>) -> tensor<5xf32>
    %sum10 = stablehlo.reduce(%g10 init: %f0) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %t10 = stablehlo.add %s, %sum10 : tensor<f32>
    %j10 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j10, %b10, %t10 : tensor<i32>, tensor<6x5xf32>, tensor<f32>
  }
  check.expect_eq_const %r10#1, dense<[[0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<6x5xf32>
  check.expect_eq_const %r10#2, dense<30.0> : tensor<f32>
  %p11 = stablehlo.constant dense<[1, -32768, 32767, 5]> : tensor<4xi16>
  %n11 = stablehlo.constant dense<4> : tensor<i32>
  %u11 = stablehlo.constant dense<3.0> : tensor<f32>
  %x11 = stablehlo.constant dense<0.0> : tensor<6xf32>
  %r11:3 = stablehlo.while(%i = %zero, %a = %x11, %s = %f0) : tensor<i32>, tensor<6xf32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n11 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at11 = stablehlo.dynamic_slice %p11, %i, sizes = [1] : (tensor<4xi16>, tensor<i32>) -> tensor<1xi16>
    %b11 = "stablehlo.scatter"(%a, %at11, %u11) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %q = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi16>, tensor<f32>) -> tensor<6xf32>
    %g11 = "stablehlo.gather"(%b11, %at11) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi16>) -> tensor<f32>
    %sum11 = stablehlo.add %g11, %f0 : tensor<f32>
    %t11 = stablehlo.add %s, %sum11 : tensor<f32>
    %j11 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j11, %b11, %t11 : tensor<i32>, tensor<6xf32>, tensor<f32>
  }
  check.expect_eq_const %r11#1, dense<[0.0, 3.0, 0.0, 0.0, 0.0, 3.0]> : tensor<6xf32>
  check.expect_eq_const %r11#2, dense<6.0> : tensor<f32>
  return
}
