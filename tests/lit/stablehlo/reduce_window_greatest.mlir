// RUN: stablehlo-translate --interpret %s
// Of a long running maximum a NaN stays, and +0 is more than -0.

func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<40xi32>
  %f = stablehlo.convert %i : (tensor<40xi32>) -> tensor<40xf32>
  %minus = stablehlo.constant dense<-1.0> : tensor<40xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %down = stablehlo.multiply %f, %minus : tensor<40xf32>
  %most = "stablehlo.reduce_window"(%down, %least) <{padding = dense<[[39, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 40>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %max = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %bits = stablehlo.bitcast_convert %most : (tensor<40xf32>) -> tensor<40xi32>
  check.expect_eq_const %bits, dense<0x80000000> : tensor<40xi32>
  %roots = stablehlo.sqrt %down : tensor<40xf32>
  %nans = "stablehlo.reduce_window"(%roots, %least) <{padding = dense<[[39, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 40>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %max = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  %same = stablehlo.compare NE, %nans, %nans : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
  %count = stablehlo.convert %same : (tensor<40xi1>) -> tensor<40xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %more = stablehlo.slice %count [1:40] : (tensor<40xi32>) -> tensor<39xi32>
  check.expect_eq_const %more, dense<1> : tensor<39xi32>
  func.return
}
