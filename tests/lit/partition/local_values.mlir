// Constants, iota and slices on shards: a splat is a smaller splat, of other constants and of iota
// each device takes its part, and dimensions taken whole have their local size.
// RUN: terrazzo opt %s -sdy-convert-global-to-local="by-records record-global-types drop-shardings share-offsets" | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  %0 = stablehlo.slice %arg0 [0:8, 1:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %1 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<[1, 2, 3, 4]> : tensor<4xi32>
  %2 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<4xi32>
  %3 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} dense<2.000000e+00> : tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8x2xf32>, tensor<4xi32>, tensor<4xi32>, tensor<8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>, terrazzo.global_type = tensor<8x4xf32>}) -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>, terrazzo.global_type = tensor<8x2xf32>}, tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, terrazzo.global_type = tensor<4xi32>}, tensor<2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>, terrazzo.global_type = tensor<4xi32>}, tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>, terrazzo.global_type = tensor<8xf32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %c = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT:   %2 = stablehlo.divide %1, %c : tensor<i64>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT:   %3 = stablehlo.remainder %1, %c_0 : tensor<i64>
// CHECK-NEXT:   %4 = stablehlo.slice %arg0 [0:4, 1:3] : (tensor<4x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:   %c_1 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK-NEXT:   %c_2 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT:   %5 = stablehlo.multiply %2, %c_2 : tensor<i64>
// CHECK-NEXT:   %6 = stablehlo.dynamic_slice %c_1, %5, sizes = [2] : (tensor<4xi32>, tensor<i64>) -> tensor<2xi32>
// CHECK-NEXT:   %7 = stablehlo.iota dim = 0 : tensor<2xi32>
// CHECK-NEXT:   %c_3 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT:   %8 = stablehlo.multiply %3, %c_3 : tensor<i64>
// CHECK-NEXT:   %9 = stablehlo.convert %8 : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT:   %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT:   %11 = stablehlo.add %7, %10 : tensor<2xi32>
// CHECK-NEXT:   %cst = stablehlo.constant dense<2.000000e+00> : tensor<2xf32>
// CHECK-NEXT:   return %4, %6, %11, %cst : tensor<4x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xf32>
// CHECK-NEXT: }
