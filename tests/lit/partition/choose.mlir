// The axis comes to the gather twice: along the batch from the tokens, along the features from the
// table. Propagation takes the features, and every product of a layer would then be summed up;
// with the batch, only weights are gathered. @main's own shardings stay as they were, and who wants
// exactly Shardy's choices says so.
// RUN: terrazzo partition %s | FileCheck %s
// RUN: terrazzo partition %s --as-propagated | FileCheck %s --check-prefix=SHARDY

sdy.mesh @mesh = <["data"=8]>

// CHECK: func.func @main
// CHECK-SAME: -> (tensor<64x128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data"}]>
// CHECK-NOT: all_reduce
// CHECK: stablehlo.dot_general {{.*}} : (tensor<8x128x512xf32>, tensor<512x512xf32>) -> tensor<8x128x512xf32>
// CHECK-NOT: all_reduce

// SHARDY: stablehlo.dot_general {{.*}} : (tensor<64x128x64xf32>, tensor<64x512xf32>) -> tensor<64x128x512xf32>
// SHARDY: all_reduce

func.func @main(%table: tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}, %tokens: tensor<64x128x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %w0: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w1: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> tensor<64x128x512xf32> {
  %0 = "stablehlo.gather"(%table, %tokens) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 512>}> : (tensor<1024x512xf32>, tensor<64x128x1xi32>) -> tensor<64x128x512xf32>
  %1 = stablehlo.dot_general %0, %w0, contracting_dims = [2] x [0] : (tensor<64x128x512xf32>, tensor<512x512xf32>) -> tensor<64x128x512xf32>
  %2 = stablehlo.tanh %1 : tensor<64x128x512xf32>
  %3 = stablehlo.dot_general %2, %w1, contracting_dims = [2] x [0] : (tensor<64x128x512xf32>, tensor<512x512xf32>) -> tensor<64x128x512xf32>
  %4 = stablehlo.add %0, %3 : tensor<64x128x512xf32>
  return %4 : tensor<64x128x512xf32>
}
