// Windows at places that only the run says: negative ones and those beyond the end are left out, of
// whatever type the index is, also where the last place does not fit it; gathers are moved inside.
// Counters that come around their type, count down or begin outside prove nothing that is not so.
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<6xf32>
  %seven = stablehlo.constant dense<7.0> : tensor<f32>
  %c0 = stablehlo.constant dense<-1> : tensor<1xi8>
  %k0 = stablehlo.optimization_barrier %c0 : tensor<1xi8>
  %s0 = "stablehlo.scatter"(%x, %k0, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi8>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s0, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g0 = "stablehlo.gather"(%x, %k0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi8>) -> tensor<f32>
  check.expect_eq_const %g0, dense<0.0> : tensor<f32>
  %c1 = stablehlo.constant dense<5> : tensor<1xi8>
  %k1 = stablehlo.optimization_barrier %c1 : tensor<1xi8>
  %s1 = "stablehlo.scatter"(%x, %k1, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi8>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s1, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 12.0]> : tensor<6xf32>
  %g1 = "stablehlo.gather"(%x, %k1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi8>) -> tensor<f32>
  check.expect_eq_const %g1, dense<5.0> : tensor<f32>
  %c2 = stablehlo.constant dense<6> : tensor<1xi8>
  %k2 = stablehlo.optimization_barrier %c2 : tensor<1xi8>
  %s2 = "stablehlo.scatter"(%x, %k2, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi8>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s2, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g2 = "stablehlo.gather"(%x, %k2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi8>) -> tensor<f32>
  check.expect_eq_const %g2, dense<5.0> : tensor<f32>
  %c3 = stablehlo.constant dense<-128> : tensor<1xi8>
  %k3 = stablehlo.optimization_barrier %c3 : tensor<1xi8>
  %s3 = "stablehlo.scatter"(%x, %k3, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi8>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s3, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g3 = "stablehlo.gather"(%x, %k3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi8>) -> tensor<f32>
  check.expect_eq_const %g3, dense<0.0> : tensor<f32>
  %c4 = stablehlo.constant dense<255> : tensor<1xui8>
  %k4 = stablehlo.optimization_barrier %c4 : tensor<1xui8>
  %s4 = "stablehlo.scatter"(%x, %k4, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xui8>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s4, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g4 = "stablehlo.gather"(%x, %k4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui8>) -> tensor<f32>
  check.expect_eq_const %g4, dense<5.0> : tensor<f32>
  %c5 = stablehlo.constant dense<0> : tensor<1xui8>
  %k5 = stablehlo.optimization_barrier %c5 : tensor<1xui8>
  %s5 = "stablehlo.scatter"(%x, %k5, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xui8>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s5, dense<[7.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g5 = "stablehlo.gather"(%x, %k5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui8>) -> tensor<f32>
  check.expect_eq_const %g5, dense<0.0> : tensor<f32>
  %c6 = stablehlo.constant dense<4294967295> : tensor<1xui32>
  %k6 = stablehlo.optimization_barrier %c6 : tensor<1xui32>
  %s6 = "stablehlo.scatter"(%x, %k6, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xui32>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s6, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g6 = "stablehlo.gather"(%x, %k6) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui32>) -> tensor<f32>
  check.expect_eq_const %g6, dense<5.0> : tensor<f32>
  %c7 = stablehlo.constant dense<3> : tensor<1xui32>
  %k7 = stablehlo.optimization_barrier %c7 : tensor<1xui32>
  %s7 = "stablehlo.scatter"(%x, %k7, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xui32>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s7, dense<[0.0, 1.0, 2.0, 10.0, 4.0, 5.0]> : tensor<6xf32>
  %g7 = "stablehlo.gather"(%x, %k7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui32>) -> tensor<f32>
  check.expect_eq_const %g7, dense<3.0> : tensor<f32>
  %c8 = stablehlo.constant dense<-1> : tensor<1xi64>
  %k8 = stablehlo.optimization_barrier %c8 : tensor<1xi64>
  %s8 = "stablehlo.scatter"(%x, %k8, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi64>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s8, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g8 = "stablehlo.gather"(%x, %k8) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi64>) -> tensor<f32>
  check.expect_eq_const %g8, dense<0.0> : tensor<f32>
  %c9 = stablehlo.constant dense<4294967297> : tensor<1xi64>
  %k9 = stablehlo.optimization_barrier %c9 : tensor<1xi64>
  %s9 = "stablehlo.scatter"(%x, %k9, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi64>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s9, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g9 = "stablehlo.gather"(%x, %k9) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi64>) -> tensor<f32>
  check.expect_eq_const %g9, dense<5.0> : tensor<f32>
  %c10 = stablehlo.constant dense<2> : tensor<1xi64>
  %k10 = stablehlo.optimization_barrier %c10 : tensor<1xi64>
  %s10 = "stablehlo.scatter"(%x, %k10, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi64>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s10, dense<[0.0, 1.0, 9.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g10 = "stablehlo.gather"(%x, %k10) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xi64>) -> tensor<f32>
  check.expect_eq_const %g10, dense<2.0> : tensor<f32>
  %c11 = stablehlo.constant dense<18446744073709551615> : tensor<1xui64>
  %k11 = stablehlo.optimization_barrier %c11 : tensor<1xui64>
  %s11 = "stablehlo.scatter"(%x, %k11, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xui64>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s11, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g11 = "stablehlo.gather"(%x, %k11) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui64>) -> tensor<f32>
  check.expect_eq_const %g11, dense<5.0> : tensor<f32>
  %c12 = stablehlo.constant dense<1> : tensor<1xui64>
  %k12 = stablehlo.optimization_barrier %c12 : tensor<1xui64>
  %s12 = "stablehlo.scatter"(%x, %k12, %seven) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xui64>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %s12, dense<[0.0, 8.0, 2.0, 3.0, 4.0, 5.0]> : tensor<6xf32>
  %g12 = "stablehlo.gather"(%x, %k12) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<1xui64>) -> tensor<f32>
  check.expect_eq_const %g12, dense<1.0> : tensor<f32>
  %big = stablehlo.iota dim = 0 : tensor<400xi32>
  %far = stablehlo.constant dense<200> : tensor<1xui8>
  %kf = stablehlo.optimization_barrier %far : tensor<1xui8>
  %gf = "stablehlo.gather"(%big, %kf) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<400xi32>, tensor<1xui8>) -> tensor<i32>
  check.expect_eq_const %gf, dense<200> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<6xf32>
  %unit = stablehlo.constant dense<1.0> : tensor<f32>
  %initup = stablehlo.constant dense<0> : tensor<i32>
  %stepup = stablehlo.constant dense<1> : tensor<i32>
  %limup = stablehlo.constant dense<6> : tensor<i32>
  %rup:2 = stablehlo.while(%i = %initup, %h = %none) : tensor<i32>, tensor<6xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limup : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %w = "stablehlo.scatter"(%h, %at, %unit) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
    %n = stablehlo.add %i, %stepup : tensor<i32>
    stablehlo.return %n, %w : tensor<i32>, tensor<6xf32>
  }
  check.expect_eq_const %rup#1, dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<6xf32>
  %initover = stablehlo.constant dense<-2> : tensor<i32>
  %stepover = stablehlo.constant dense<3> : tensor<i32>
  %limover = stablehlo.constant dense<9> : tensor<i32>
  %rover:2 = stablehlo.while(%i = %initover, %h = %none) : tensor<i32>, tensor<6xf32>
  cond {
    %c = stablehlo.compare LE, %i, %limover : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %w = "stablehlo.scatter"(%h, %at, %unit) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
    %n = stablehlo.add %i, %stepover : tensor<i32>
    stablehlo.return %n, %w : tensor<i32>, tensor<6xf32>
  }
  check.expect_eq_const %rover#1, dense<[0.0, 1.0, 0.0, 0.0, 1.0, 0.0]> : tensor<6xf32>
  %initdown = stablehlo.constant dense<5> : tensor<i32>
  %stepdown = stablehlo.constant dense<-1> : tensor<i32>
  %limdown = stablehlo.constant dense<0> : tensor<i32>
  %rdown:2 = stablehlo.while(%i = %initdown, %h = %none) : tensor<i32>, tensor<6xf32>
  cond {
    %c = stablehlo.compare GE, %i, %limdown : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %w = "stablehlo.scatter"(%h, %at, %unit) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
    %n = stablehlo.add %i, %stepdown : tensor<i32>
    stablehlo.return %n, %w : tensor<i32>, tensor<6xf32>
  }
  check.expect_eq_const %rdown#1, dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<6xf32>
  %initunder = stablehlo.constant dense<7> : tensor<i32>
  %stepunder = stablehlo.constant dense<-2> : tensor<i32>
  %limunder = stablehlo.constant dense<-4> : tensor<i32>
  %runder:2 = stablehlo.while(%i = %initunder, %h = %none) : tensor<i32>, tensor<6xf32>
  cond {
    %c = stablehlo.compare GT, %i, %limunder : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %w = "stablehlo.scatter"(%h, %at, %unit) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
    %n = stablehlo.add %i, %stepunder : tensor<i32>
    stablehlo.return %n, %w : tensor<i32>, tensor<6xf32>
  }
  check.expect_eq_const %runder#1, dense<[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]> : tensor<6xf32>
  %initaround = stablehlo.constant dense<100> : tensor<i8>
  %steparound = stablehlo.constant dense<25> : tensor<i8>
  %limaround = stablehlo.constant dense<126> : tensor<i8>
  %raround:2 = stablehlo.while(%i = %initaround, %h = %none) : tensor<i8>, tensor<6xf32>
  cond {
    %c = stablehlo.compare LE, %i, %limaround : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.reshape %i : (tensor<i8>) -> tensor<1xi8>
    %w = "stablehlo.scatter"(%h, %at, %unit) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xi8>, tensor<f32>) -> tensor<6xf32>
    %n = stablehlo.add %i, %steparound : tensor<i8>
    stablehlo.return %n, %w : tensor<i8>, tensor<6xf32>
  }
  check.expect_eq_const %raround#1, dense<[0.0, 1.0, 1.0, 0.0, 0.0, 0.0]> : tensor<6xf32>
  %initsignless = stablehlo.constant dense<3> : tensor<ui8>
  %stepsignless = stablehlo.constant dense<255> : tensor<ui8>
  %limsignless = stablehlo.constant dense<6> : tensor<ui8>
  %rsignless:2 = stablehlo.while(%i = %initsignless, %h = %none) : tensor<ui8>, tensor<6xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limsignless : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.reshape %i : (tensor<ui8>) -> tensor<1xui8>
    %w = "stablehlo.scatter"(%h, %at, %unit) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>, tensor<1xui8>, tensor<f32>) -> tensor<6xf32>
    %n = stablehlo.add %i, %stepsignless : tensor<ui8>
    stablehlo.return %n, %w : tensor<ui8>, tensor<6xf32>
  }
  check.expect_eq_const %rsignless#1, dense<[1.0, 1.0, 1.0, 1.0, 0.0, 0.0]> : tensor<6xf32>
  return
}
