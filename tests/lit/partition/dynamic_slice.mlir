// A slice at a place known at run time only, along a sharded dimension: each device has what of it is
// in its shard, and what adds nothing for the rest; a slice of more than half is of the whole.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<i32>) -> (tensor<1x8xf32>, tensor<20x8xf32>) {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %1 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [20, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<20x8xf32>
  return %0, %1 : tensor<1x8xf32>, tensor<20x8xf32>
}
func.func @most(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<i32>) -> tensor<60x8xf32> {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [60, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<60x8xf32>
  return %0 : tensor<60x8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}, %arg1: tensor<i32> {terrazzo.global_type = tensor<i32>}) -> (tensor<1x8xf32> {terrazzo.global_type = tensor<1x8xf32>}, tensor<20x8xf32> {terrazzo.global_type = tensor<20x8xf32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %2 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:   %c = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<63> : tensor<i64>
// CHECK-NEXT:   %3 = stablehlo.clamp %c, %2, %c_0 : tensor<i64>
// CHECK-NEXT:   %c_1 = stablehlo.constant dense<16> : tensor<i64>
// CHECK-NEXT:   %4 = stablehlo.multiply %1, %c_1 : tensor<i64>
// CHECK-NEXT:   %5 = stablehlo.subtract %3, %4 : tensor<i64>
// CHECK-NEXT:   %c_2 = stablehlo.constant dense<15> : tensor<i64>
// CHECK-NEXT:   %6 = stablehlo.clamp %c, %5, %c_2 : tensor<i64>
// CHECK-NEXT:   %7 = stablehlo.subtract %6, %5 : tensor<i64>
// CHECK-NEXT:   %8 = stablehlo.compare EQ, %7, %c : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT:   %9 = stablehlo.dynamic_slice %arg0, %6, %2, sizes = [1, 8] : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<1x8xf32>
// CHECK-NEXT:   %cst = stablehlo.constant dense<-0.000000e+00> : tensor<1x8xf32>
// CHECK-NEXT:   %10 = stablehlo.select %8, %9, %cst : tensor<i1>, tensor<1x8xf32>
// CHECK-NEXT:   %c_3 = stablehlo.constant dense<44> : tensor<i64>
// CHECK-NEXT:   %11 = stablehlo.clamp %c, %2, %c_3 : tensor<i64>
// CHECK-NEXT:   %12 = stablehlo.subtract %11, %4 : tensor<i64>
// CHECK-NEXT:   %13 = stablehlo.clamp %c, %12, %c : tensor<i64>
// CHECK-NEXT:   %14 = stablehlo.subtract %13, %12 : tensor<i64>
// CHECK-NEXT:   %15 = stablehlo.negate %14 : tensor<i64>
// CHECK-NEXT:   %16 = stablehlo.dynamic_slice %arg0, %13, %2, sizes = [16, 8] : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   %cst_4 = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %c_5 = stablehlo.constant dense<20> : tensor<i64>
// CHECK-NEXT:   %17 = stablehlo.add %15, %c_5 : tensor<i64>
// CHECK-NEXT:   %18 = stablehlo.pad %16, %cst_4, low = [20, 0], high = [20, 0], interior = [0, 0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<56x8xf32>
// CHECK-NEXT:   %19 = stablehlo.dynamic_slice %18, %17, %c, sizes = [20, 8] : (tensor<56x8xf32>, tensor<i64>, tensor<i64>) -> tensor<20x8xf32>
// CHECK-NEXT:   %20:2 = "stablehlo.all_reduce"(%10, %19) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3{{\]\]}}> : tensor<1x4xi64>, use_global_device_ids}> ({
// CHECK-NEXT:   ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT:     %21 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT:     stablehlo.return %21 : tensor<f32>
// CHECK-NEXT:   }) : (tensor<1x8xf32>, tensor<20x8xf32>) -> (tensor<1x8xf32>, tensor<20x8xf32>)
// CHECK-NEXT:   return %20#0, %20#1 : tensor<1x8xf32>, tensor<20x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @most(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}, %arg1: tensor<i32> {terrazzo.global_type = tensor<i32>}) -> (tensor<60x8xf32> {terrazzo.global_type = tensor<60x8xf32>}) {
// CHECK-NEXT:   %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3{{\]\]}}> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<16x8xf32>) -> tensor<64x8xf32>
// CHECK-NEXT:   %1 = stablehlo.dynamic_slice %0, %arg1, %arg1, sizes = [60, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<60x8xf32>
// CHECK-NEXT:   return %1 : tensor<60x8xf32>
// CHECK-NEXT: }
