// Sums of products begin at 0 whatever computes them: what is made of -0 alone is 0.
// RUN: terrazzo run %s

func.func @main() {
  %x = stablehlo.constant dense<(-1.0, 0.0)> : tensor<12x1xcomplex<f32>>
  %y = stablehlo.constant dense<(0.0, 0.0)> : tensor<1x12xcomplex<f32>>
  %few = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<12x1xcomplex<f32>>, tensor<1x12xcomplex<f32>>) -> tensor<12x12xcomplex<f32>>
  %re = stablehlo.real %few : (tensor<12x12xcomplex<f32>>) -> tensor<12x12xf32>
  %bits = stablehlo.bitcast_convert %re : (tensor<12x12xf32>) -> tensor<12x12xi32>
  check.expect_eq_const %bits, dense<0> : tensor<12x12xi32>
  %t = stablehlo.constant dense<(0.0, 0.0)> : tensor<1x3xcomplex<f32>>
  %short = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<12x1xcomplex<f32>>, tensor<1x3xcomplex<f32>>) -> tensor<12x3xcomplex<f32>>
  %sre = stablehlo.real %short : (tensor<12x3xcomplex<f32>>) -> tensor<12x3xf32>
  %sbits = stablehlo.bitcast_convert %sre : (tensor<12x3xf32>) -> tensor<12x3xi32>
  check.expect_eq_const %sbits, dense<0> : tensor<12x3xi32>
  return
}
