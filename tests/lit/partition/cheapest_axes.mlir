// Where a product's operands and its result disagree, it computes under the axes that cost least:
// bytes, and, where these are few, collectives.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @wide = <["x"=8, "y"=8]>
sdy.mesh @mesh = <["x"=4, "y"=2]>
#rows = #sdy.sharding<@wide, [{"x", "y"}, {}]>
#xy = #sdy.sharding<@mesh, [{"x"}, {"y"}]>

// The axes of the left operand: it takes a permutation of 128 KiB, and the result is scattered. The
// right operand is the larger one after that, but its axes would gather 3.5 MiB.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: all_gather
// CHECK: "stablehlo.collective_permute"(%arg0)
// CHECK-NOT: all_gather
// CHECK: "stablehlo.reduce_scatter"
// CHECK-NOT: all_gather
// CHECK: return
func.func @bytes(%a: tensor<2048x1024xf32> {sdy.sharding = #sdy.sharding<@wide, [{"y"}, {"x"}]>}, %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@wide, [{"y"}, {}]>}) -> (tensor<2048x1024xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<2048x1024xf32>, tensor<1024x1024xf32>) -> tensor<2048x1024xf32>
  return %0 : tensor<2048x1024xf32>
}

// The right operand is gathered and the result scattered. To gather the left operand would send 192
// B instead of 768, but the sum would need two more collectives to be where it is wanted.
// CHECK-LABEL: func.func @calls
// CHECK: "stablehlo.all_gather"(%arg1)
// CHECK-NOT: all_to_all
// CHECK: "stablehlo.reduce_scatter"
// CHECK-NOT: all_to_all
// CHECK: return
func.func @calls(%a: tensor<8x16xf32> {sdy.sharding = #xy}, %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<8x32xf32> {sdy.sharding = #xy}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[#xy]>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// Of larger ones, the bytes decide.
// CHECK-LABEL: func.func @many_bytes
// CHECK: "stablehlo.all_gather"(%arg0)
// CHECK: "stablehlo.reduce_scatter"
// CHECK: "stablehlo.all_to_all"
// CHECK: return
func.func @many_bytes(%a: tensor<256x512xf32> {sdy.sharding = #xy}, %w: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<256x1024xf32> {sdy.sharding = #xy}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[#xy]>} : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  return %0 : tensor<256x1024xf32>
}
