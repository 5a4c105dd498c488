// Random bits are counted: each device counts from where its shard begins, and all know the state
// behind the whole. Shards that are no runs of whole blocks are cut out of the whole.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<2xui64>) -> (tensor<2xui64>, tensor<64x8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0, %1 = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<64x8xui32>)
  return %0, %1 : tensor<2xui64>, tensor<64x8xui32>
}
func.func @columns(%arg0: tensor<2xui64>) -> (tensor<2xui64>, tensor<64x8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0, %1 = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}, {"x"}]>]>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<64x8xui32>)
  return %0, %1 : tensor<2xui64>, tensor<64x8xui32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<2xui64> {terrazzo.global_type = tensor<2xui64>}) -> (tensor<2xui64> {terrazzo.global_type = tensor<2xui64>}, tensor<16x8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, terrazzo.global_type = tensor<64x8xui32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %2 = stablehlo.slice %arg0 [0:1] : (tensor<2xui64>) -> tensor<1xui64>
// CHECK-NEXT:   %3 = stablehlo.slice %arg0 [1:2] : (tensor<2xui64>) -> tensor<1xui64>
// CHECK-NEXT:   %c = stablehlo.constant dense<128> : tensor<i64>
// CHECK-NEXT:   %4 = stablehlo.convert %c : (tensor<i64>) -> tensor<ui64>
// CHECK-NEXT:   %5 = stablehlo.reshape %4 : (tensor<ui64>) -> tensor<1xui64>
// CHECK-NEXT:   %6 = stablehlo.add %3, %5 : tensor<1xui64>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<32> : tensor<i64>
// CHECK-NEXT:   %7 = stablehlo.multiply %1, %c_0 : tensor<i64>
// CHECK-NEXT:   %8 = stablehlo.convert %7 : (tensor<i64>) -> tensor<ui64>
// CHECK-NEXT:   %9 = stablehlo.reshape %8 : (tensor<ui64>) -> tensor<1xui64>
// CHECK-NEXT:   %10 = stablehlo.add %3, %9 : tensor<1xui64>
// CHECK-NEXT:   %11 = stablehlo.compare LT, %10, %3 : (tensor<1xui64>, tensor<1xui64>) -> tensor<1xi1>
// CHECK-NEXT:   %12 = stablehlo.convert %11 : (tensor<1xi1>) -> tensor<1xui64>
// CHECK-NEXT:   %13 = stablehlo.add %2, %12 : tensor<1xui64>
// CHECK-NEXT:   %14 = stablehlo.concatenate %2, %10, %13, dim = 0 : (tensor<1xui64>, tensor<1xui64>, tensor<1xui64>) -> tensor<3xui64>
// CHECK-NEXT:   %output_state, %output = stablehlo.rng_bit_generator %14, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<16x8xui32>)
// CHECK-NEXT:   %15 = stablehlo.concatenate %2, %6, dim = 0 : (tensor<1xui64>, tensor<1xui64>) -> tensor<2xui64>
// CHECK-NEXT:   return %15, %output : tensor<2xui64>, tensor<16x8xui32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @columns(%arg0: tensor<2xui64> {terrazzo.global_type = tensor<2xui64>}) -> (tensor<2xui64> {terrazzo.global_type = tensor<2xui64>}, tensor<64x2xui32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>, terrazzo.global_type = tensor<64x8xui32>}) {
// CHECK-NEXT:   %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT:   %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT:   %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<64x8xui32>)
// CHECK-NEXT:   %c = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT:   %c_0 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT:   %2 = stablehlo.multiply %1, %c_0 : tensor<i64>
// CHECK-NEXT:   %3 = stablehlo.dynamic_slice %output, %c, %2, sizes = [64, 2] : (tensor<64x8xui32>, tensor<i64>, tensor<i64>) -> tensor<64x2xui32>
// CHECK-NEXT:   return %output_state, %3 : tensor<2xui64>, tensor<64x2xui32>
// CHECK-NEXT: }
