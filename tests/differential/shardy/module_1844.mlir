module @fuzz {
  sdy.mesh @mesh = <["data"=3, "y"=8, "z"=2], device_ids=[10, 27, 8, 17, 23, 0, 44, 36, 46, 12, 16, 25, 5, 26, 11, 6, 31, 13, 3, 4, 14, 39, 37, 24, 15, 43, 42, 41, 32, 33, 21, 9, 1, 35, 20, 2, 40, 7, 28, 22, 47, 19, 34, 18, 30, 38, 45, 29]>
  func.func public @main(%arg0: tensor<8x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"data"}, {"z", "y", ?}]>}, %arg1: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}p1, {"data"}]>}, %arg2: tensor<16x8xf32>, %arg3: tensor<8x16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}, {"data", ?}]>}, %arg4: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<4x8x16xf32>, tensor<8x2xf32>, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", ?}, {?}]>}, tensor<bf16>) {
    %0 = call @f0(%arg4) : (tensor<f32>) -> tensor<f32>
    %1 = stablehlo.abs %arg2 : tensor<16x8xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.dynamic_slice %arg3, %c, %c_0, %c_1, sizes = [8, 8, 6] : (tensor<8x16x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x8x6xf32>
    %3 = stablehlo.compare GT, %2, %2 : (tensor<8x8x6xf32>, tensor<8x8x6xf32>) -> tensor<8x8x6xi1>
    %4 = stablehlo.select %3, %2, %2 : tensor<8x8x6xi1>, tensor<8x8x6xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 0 : (tensor<8x8x6xf32>, tensor<8x8x6xf32>) -> tensor<16x8x6xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}, {"y":(1)2, ?}]> : tensor<16x8x6xf32>
    %7 = stablehlo.convert %arg4 : (tensor<f32>) -> tensor<bf16>
    %8 = call @f1(%1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"y", ?}]>]>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %9:2 = stablehlo.optimization_barrier %7, %8 : tensor<bf16>, tensor<8x16xf32>
    %10 = call @f2(%9#1) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %11 = "stablehlo.case"(%c_2) ({
      %14 = stablehlo.add %9#1, %9#1 : tensor<8x16xf32>
      stablehlo.return %14 : tensor<8x16xf32>
    }, {
      %14 = stablehlo.sine %9#1 : tensor<8x16xf32>
      stablehlo.return %14 : tensor<8x16xf32>
    }) : (tensor<i32>) -> tensor<8x16xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [1, 2] : (tensor<8x16xf32>) -> tensor<4x8x16xf32>
    %c_3 = stablehlo.constant dense<1> : tensor<8x2x1xi32>
    %13 = "stablehlo.gather"(%11, %c_3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<8x2x1xi32>) -> tensor<8x2xf32>
    return %12, %13, %arg2, %7 : tensor<4x8x16xf32>, tensor<8x2xf32>, tensor<16x8xf32>, tensor<bf16>
  }
  func.func private @f0(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.cosine %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @f1(%arg0: tensor<16x8xf32>) -> tensor<8x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = stablehlo.dot_general %0, %arg0, batching_dims = [0] x [1], contracting_dims = [] x [] : (tensor<8xf32>, tensor<16x8xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  func.func private @f2(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<8x16xf32>
    %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.compare LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
}
