// The greatest and the least bf16 at each place, one after the other: -0 is less than 0, NaN wins.
// RUN: terrazzo run %s

func.func @main() {
  %i = stablehlo.constant dense<[[0], [1], [1], [2], [2], [2], [3], [3], [3]]> : tensor<9x1xi32>
  %u = stablehlo.constant dense<[1.5, -0.0, 0.0, 3.0, 2.0, 3.5, 1.0, 0x7FC0, 2.0]> : tensor<9xbf16>
  %low = stablehlo.constant dense<0xFF80> : tensor<5xbf16>
  %high = stablehlo.constant dense<0x7F80> : tensor<5xbf16>
  %0 = "stablehlo.scatter"(%low, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %m = stablehlo.maximum %a, %b : tensor<bf16>
    stablehlo.return %m : tensor<bf16>
  }) : (tensor<5xbf16>, tensor<9x1xi32>, tensor<9xbf16>) -> tensor<5xbf16>
  %bits = stablehlo.bitcast_convert %0 : (tensor<5xbf16>) -> tensor<5xui16>
  check.expect_eq_const %bits, dense<[16320, 0, 16480, 32704, 65408]> : tensor<5xui16>
  %1 = "stablehlo.scatter"(%high, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %m = stablehlo.minimum %a, %b : tensor<bf16>
    stablehlo.return %m : tensor<bf16>
  }) : (tensor<5xbf16>, tensor<9x1xi32>, tensor<9xbf16>) -> tensor<5xbf16>
  %least = stablehlo.bitcast_convert %1 : (tensor<5xbf16>) -> tensor<5xui16>
  check.expect_eq_const %least, dense<[16320, 32768, 16384, 32704, 32640]> : tensor<5xui16>
  return
}
