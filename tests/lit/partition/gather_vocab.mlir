// A gather from an array sharded along the indexed dimension: each device gathers what it has, and
// the parts are summed up; elsewhere it has -0, which leaves even a -0 as it is.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<6x1xi32>) -> tensor<6x8xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<64x8xf32>, tensor<6x1xi32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}, %arg1: tensor<6x1xi32> {terrazzo.global_type = tensor<6x1xi32>}) -> (tensor<6x8xf32> {terrazzo.global_type = tensor<6x8xf32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %c = stablehlo.constant dense<16> : tensor<i64>
// CHECK-NEXT:   %2 = stablehlo.multiply %1, %c : tensor<i64>
// CHECK-NEXT:   %3 = stablehlo.convert %arg1 : (tensor<6x1xi32>) -> tensor<6x1xi64>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<0> : tensor<1xi64>
// CHECK-NEXT:   %4 = stablehlo.broadcast_in_dim %c_0, dims = [1] : (tensor<1xi64>) -> tensor<6x1xi64>
// CHECK-NEXT:   %c_1 = stablehlo.constant dense<63> : tensor<1xi64>
// CHECK-NEXT:   %5 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi64>) -> tensor<6x1xi64>
// CHECK-NEXT:   %6 = stablehlo.clamp %4, %3, %5 : tensor<6x1xi64>
// CHECK-NEXT:   %7 = stablehlo.reshape %2 : (tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT:   %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<1xi64>) -> tensor<6x1xi64>
// CHECK-NEXT:   %9 = stablehlo.subtract %6, %8 : tensor<6x1xi64>
// CHECK-NEXT:   %10 = stablehlo.compare GE, %9, %4 : (tensor<6x1xi64>, tensor<6x1xi64>) -> tensor<6x1xi1>
// CHECK-NEXT:   %c_2 = stablehlo.constant dense<15> : tensor<1xi64>
// CHECK-NEXT:   %11 = stablehlo.broadcast_in_dim %c_2, dims = [1] : (tensor<1xi64>) -> tensor<6x1xi64>
// CHECK-NEXT:   %12 = stablehlo.compare LE, %9, %11 : (tensor<6x1xi64>, tensor<6x1xi64>) -> tensor<6x1xi1>
// CHECK-NEXT:   %13 = stablehlo.and %10, %12 : tensor<6x1xi1>
// CHECK-NEXT:   %c_3 = stablehlo.constant dense<true> : tensor<i1>
// CHECK-NEXT:   %14 = stablehlo.reduce(%13 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<6x1xi1>, tensor<i1>) -> tensor<6xi1>
// CHECK-NEXT:   %15 = "stablehlo.gather"(%arg0, %9) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<6x1xi64>) -> tensor<6x8xf32>
// CHECK-NEXT:   %16 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<6xi1>) -> tensor<6x8xi1>
// CHECK-NEXT:   %cst = stablehlo.constant dense<-0.000000e+00> : tensor<6x8xf32>
// CHECK-NEXT:   %17 = stablehlo.select %16, %15, %cst : tensor<6x8xi1>, tensor<6x8xf32>
// CHECK-NEXT:   %18 = "stablehlo.all_reduce"(%17) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3{{\]\]}}> : tensor<1x4xi64>, use_global_device_ids}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT:     %19 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %19 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT:   return %18 : tensor<6x8xf32>
// CHECK-NEXT: }
