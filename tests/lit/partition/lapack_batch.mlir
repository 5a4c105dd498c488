// LAPACK's calls are made of batches: each device has some matrices of it. Any other call, or any
// other dimension, is whole.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8x4x4xf32>, tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg0) {mhlo.backend_config = {uplo = 76 : ui8}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>, <@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=8, j=4, k=4, l=4, m=4}, custom>} : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)
  %1:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg1) {mhlo.backend_config = {uplo = 76 : ui8}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, j, l], [i]) {i=8, j=4, k=4, l=4}, custom>} : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)
  %2 = stablehlo.custom_call @another(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=8, j=4, k=4}, custom>} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %0#0, %0#1, %1#0, %2 : tensor<8x4x4xf32>, tensor<8xi32>, tensor<8x4x4xf32>, tensor<8x4x4xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>, terrazzo.global_type = tensor<8x4x4xf32>}, %arg1: tensor<8x1x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>, terrazzo.global_type = tensor<8x4x4xf32>}) -> (tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>, terrazzo.global_type = tensor<8x4x4xf32>}, tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, terrazzo.global_type = tensor<8xi32>}, tensor<8x4x4xf32> {terrazzo.global_type = tensor<8x4x4xf32>}, tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>, terrazzo.global_type = tensor<8x4x4xf32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %2:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg0) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2xi32>)
// CHECK-NEXT:   %3 = stablehlo.reshape %arg0 : (tensor<2x4x4xf32>) -> tensor<1x1x32xf32>
// CHECK-NEXT:   %4:2 = "stablehlo.all_gather"(%arg1, %3) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3{{\]\]}}> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<8x1x4xf32>, tensor<1x1x32xf32>) -> (tensor<8x4x4xf32>, tensor<1x4x32xf32>)
// CHECK-NEXT:   %5 = stablehlo.reshape %4#1 : (tensor<1x4x32xf32>) -> tensor<8x4x4xf32>
// CHECK-NEXT:   %6:2 = stablehlo.custom_call @lapack_spotrf_ffi(%4#0) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xi32>)
// CHECK-NEXT:   %7 = stablehlo.custom_call @another(%5) : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
// CHECK-NEXT:   %c = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT:   %8 = stablehlo.multiply %1, %c : tensor<i64>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %9 = stablehlo.dynamic_slice %7, %8, %c_0, %c_0, sizes = [2, 4, 4] : (tensor<8x4x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<2x4x4xf32>
// CHECK-NEXT:   return %2#0, %2#1, %6#0, %9 : tensor<2x4x4xf32>, tensor<2xi32>, tensor<8x4x4xf32>, tensor<2x4x4xf32>
// CHECK-NEXT: }
