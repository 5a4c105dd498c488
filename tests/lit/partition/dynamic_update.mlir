// An update at a place known at run time only, along a sharded dimension: each device writes what of
// it is in its shard, as much as the update's size, and nothing crosses the wire.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<1x8xf32>, %arg2: tensor<20x8xf32>, %arg3: tensor<i32>) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg3, %arg3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
  %1 = stablehlo.dynamic_update_slice %arg0, %arg2, %arg3, %arg3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<64x8xf32>, tensor<20x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
  return %0, %1 : tensor<64x8xf32>, tensor<64x8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}, %arg1: tensor<1x8xf32> {terrazzo.global_type = tensor<1x8xf32>}, %arg2: tensor<20x8xf32> {terrazzo.global_type = tensor<20x8xf32>}, %arg3: tensor<i32> {terrazzo.global_type = tensor<i32>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xf32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %2 = stablehlo.convert %arg3 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:   %c = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<63> : tensor<i64>
// CHECK-NEXT:   %3 = stablehlo.clamp %c, %2, %c_0 : tensor<i64>
// CHECK-NEXT:   %c_1 = stablehlo.constant dense<16> : tensor<i64>
// CHECK-NEXT:   %4 = stablehlo.multiply %1, %c_1 : tensor<i64>
// CHECK-NEXT:   %5 = stablehlo.subtract %3, %4 : tensor<i64>
// CHECK-NEXT:   %c_2 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %c_3 = stablehlo.constant dense<15> : tensor<i64>
// CHECK-NEXT:   %6 = stablehlo.clamp %c_2, %5, %c_3 : tensor<i64>
// CHECK-NEXT:   %7 = stablehlo.subtract %6, %5 : tensor<i64>
// CHECK-NEXT:   %c_4 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %8 = stablehlo.compare EQ, %7, %c_4 : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT:   %9 = stablehlo.convert %arg3 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:   %10 = stablehlo.dynamic_slice %arg0, %6, %9, sizes = [1, 8] : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<1x8xf32>
// CHECK-NEXT:   %11 = stablehlo.select %8, %arg1, %10 : tensor<i1>, tensor<1x8xf32>
// CHECK-NEXT:   %12 = stablehlo.dynamic_update_slice %arg0, %11, %6, %9 : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   %13 = stablehlo.convert %arg3 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:   %c_5 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %c_6 = stablehlo.constant dense<44> : tensor<i64>
// CHECK-NEXT:   %14 = stablehlo.clamp %c_5, %13, %c_6 : tensor<i64>
// CHECK-NEXT:   %c_7 = stablehlo.constant dense<16> : tensor<i64>
// CHECK-NEXT:   %15 = stablehlo.multiply %1, %c_7 : tensor<i64>
// CHECK-NEXT:   %16 = stablehlo.subtract %14, %15 : tensor<i64>
// CHECK-NEXT:   %c_8 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %c_9 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %17 = stablehlo.clamp %c_8, %16, %c_9 : tensor<i64>
// CHECK-NEXT:   %18 = stablehlo.subtract %17, %16 : tensor<i64>
// CHECK-NEXT:   %19 = stablehlo.convert %arg3 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:   %20 = stablehlo.dynamic_slice %arg0, %17, %19, sizes = [16, 8] : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %c_10 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %c_11 = stablehlo.constant dense<16> : tensor<i64>
// CHECK-NEXT:   %21 = stablehlo.add %18, %c_11 : tensor<i64>
// CHECK-NEXT:   %22 = stablehlo.pad %arg2, %cst, low = [16, 0], high = [16, 0], interior = [0, 0] : (tensor<20x8xf32>, tensor<f32>) -> tensor<52x8xf32>
// CHECK-NEXT:   %23 = stablehlo.dynamic_slice %22, %21, %c_10, sizes = [16, 8] : (tensor<52x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   %24 = stablehlo.iota dim = 0 : tensor<16x8xi64>
// CHECK-NEXT:   %25 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i64>) -> tensor<16x8xi64>
// CHECK-NEXT:   %26 = stablehlo.add %24, %25 : tensor<16x8xi64>
// CHECK-NEXT:   %c_12 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %27 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i64>) -> tensor<16x8xi64>
// CHECK-NEXT:   %28 = stablehlo.compare GE, %26, %27 : (tensor<16x8xi64>, tensor<16x8xi64>) -> tensor<16x8xi1>
// CHECK-NEXT:   %c_13 = stablehlo.constant dense<20> : tensor<i64>
// CHECK-NEXT:   %29 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i64>) -> tensor<16x8xi64>
// CHECK-NEXT:   %30 = stablehlo.compare LT, %26, %29 : (tensor<16x8xi64>, tensor<16x8xi64>) -> tensor<16x8xi1>
// CHECK-NEXT:   %31 = stablehlo.and %28, %30 : tensor<16x8xi1>
// CHECK-NEXT:   %32 = stablehlo.select %31, %23, %20 : tensor<16x8xi1>, tensor<16x8xf32>
// CHECK-NEXT:   %33 = stablehlo.dynamic_update_slice %arg0, %32, %17, %19 : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   return %12, %33 : tensor<16x8xf32>, tensor<16x8xf32>
// CHECK-NEXT: }
