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
// CHECK-NEXT:   %c_2 = stablehlo.constant dense<15> : tensor<i64>
// CHECK-NEXT:   %6 = stablehlo.clamp %c, %5, %c_2 : tensor<i64>
// CHECK-NEXT:   %7 = stablehlo.subtract %6, %5 : tensor<i64>
// CHECK-NEXT:   %8 = stablehlo.compare EQ, %7, %c : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT:   %9 = stablehlo.dynamic_slice %arg0, %6, %2, sizes = [1, 8] : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<1x8xf32>
// CHECK-NEXT:   %10 = stablehlo.select %8, %arg1, %9 : tensor<i1>, tensor<1x8xf32>
// CHECK-NEXT:   %11 = stablehlo.dynamic_update_slice %arg0, %10, %6, %2 : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   %c_3 = stablehlo.constant dense<44> : tensor<i64>
// CHECK-NEXT:   %12 = stablehlo.clamp %c, %2, %c_3 : tensor<i64>
// CHECK-NEXT:   %13 = stablehlo.subtract %12, %4 : tensor<i64>
// CHECK-NEXT:   %14 = stablehlo.clamp %c, %13, %c : tensor<i64>
// CHECK-NEXT:   %15 = stablehlo.subtract %14, %13 : tensor<i64>
// CHECK-NEXT:   %16 = stablehlo.dynamic_slice %arg0, %14, %2, sizes = [16, 8] : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %17 = stablehlo.add %15, %c_1 : tensor<i64>
// CHECK-NEXT:   %18 = stablehlo.pad %arg2, %cst, low = [16, 0], high = [16, 0], interior = [0, 0] : (tensor<20x8xf32>, tensor<f32>) -> tensor<52x8xf32>
// CHECK-NEXT:   %19 = stablehlo.dynamic_slice %18, %17, %c, sizes = [16, 8] : (tensor<52x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   %20 = stablehlo.iota dim = 0 : tensor<16x8xi64>
// CHECK-NEXT:   %21 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i64>) -> tensor<16x8xi64>
// CHECK-NEXT:   %22 = stablehlo.add %20, %21 : tensor<16x8xi64>
// CHECK-NEXT:   %23 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<16x8xi64>
// CHECK-NEXT:   %24 = stablehlo.compare GE, %22, %23 : (tensor<16x8xi64>, tensor<16x8xi64>) -> tensor<16x8xi1>
// CHECK-NEXT:   %c_4 = stablehlo.constant dense<20> : tensor<i64>
// CHECK-NEXT:   %25 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<16x8xi64>
// CHECK-NEXT:   %26 = stablehlo.compare LT, %22, %25 : (tensor<16x8xi64>, tensor<16x8xi64>) -> tensor<16x8xi1>
// CHECK-NEXT:   %27 = stablehlo.and %24, %26 : tensor<16x8xi1>
// CHECK-NEXT:   %28 = stablehlo.select %27, %19, %16 : tensor<16x8xi1>, tensor<16x8xf32>
// CHECK-NEXT:   %29 = stablehlo.dynamic_update_slice %arg0, %28, %14, %2 : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<16x8xf32>
// CHECK-NEXT:   return %11, %29 : tensor<16x8xf32>, tensor<16x8xf32>
// CHECK-NEXT: }
