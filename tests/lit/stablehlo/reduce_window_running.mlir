// RUN: stablehlo-translate --interpret %s
// The running value of a short cumulative sum is rounded to its type: 256 + 1 is 256 in bf16.

func.func @main() {
  %x = stablehlo.constant dense<[256.0, 1.0, 1.0, 1.0]> : tensor<4xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %forward = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %sum = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %sum : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  check.expect_eq_const %forward, dense<256.0> : tensor<4xbf16>
  %r = stablehlo.reverse %x, dims = [0] : tensor<4xbf16>
  %backward = "stablehlo.reduce_window"(%r, %zero) <{padding = dense<[[0, 3]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %zeros = stablehlo.subtract %a, %a : tensor<bf16>
    %more = stablehlo.add %zeros, %b : tensor<bf16>
    %sum = stablehlo.add %a, %more : tensor<bf16>
    stablehlo.return %sum : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  check.expect_eq_const %backward, dense<[260.0, 258.0, 256.0, 256.0]> : tensor<4xbf16>
  func.return
}
