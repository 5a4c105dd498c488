// Windows at known places: all of them, a single element, and one that begins where it cannot; and
// several, whose places say nothing of any dimension.
// RUN: stablehlo-translate --interpret %s

func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<6xf32>
  %k = stablehlo.constant dense<2> : tensor<1xi32>
  %u = stablehlo.slice %x [0:3] : (tensor<6xf32>) -> tensor<3xf32>
  %w = "stablehlo.scatter"(%x, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %b, %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<6xf32>
  check.expect_eq_const %w, dense<[0.0, 1.0, -2.0, -2.0, -2.0, 5.0]> : tensor<6xf32>
  %e = stablehlo.constant dense<7.0> : tensor<f32>
  %r = "stablehlo.scatter"(%w, %k, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<f32>) -> tensor<6xf32>
  check.expect_eq_const %r, dense<[0.0, 1.0, 7.0, -2.0, -2.0, 5.0]> : tensor<6xf32>
  %far = stablehlo.constant dense<4> : tensor<1xi32>
  %o = "stablehlo.scatter"(%w, %far, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<6xf32>
  check.expect_eq_const %o, dense<[0.0, 1.0, -2.0, -2.0, -2.0, 5.0]> : tensor<6xf32>
  %nowhere = stablehlo.constant dense<> : tensor<3x2x0xi32>
  %p = stablehlo.iota dim = 0 : tensor<1xf32>
  %q = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<3x2xf32>
  %n = "stablehlo.scatter"(%p, %nowhere, %q) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1xf32>, tensor<3x2x0xi32>, tensor<3x2xf32>) -> tensor<1xf32>
  check.expect_eq_const %n, dense<15.0> : tensor<1xf32>
  return
}
