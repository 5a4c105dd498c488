// What is wanted whole along a dimension is put together of what is whole: no shard needs elements
// of another's for that. What somebody wants in shards too stays, and so does a part of much.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
#rows = #sdy.sharding<@mesh, [{"x"}]>

// CHECK-LABEL: func.func @pieces
// CHECK-NOT: collective_permute
// CHECK: %[[G:.*]]:2 = "stablehlo.all_gather"(%arg0, %arg1)
// CHECK: stablehlo.concatenate %[[G]]#0, %[[G]]#1, dim = 0 : (tensor<32xf32>, tensor<16xf32>) -> tensor<48xf32>
// CHECK-NOT: collective_permute
// CHECK: return
func.func @pieces(%a: tensor<32xf32> {sdy.sharding = #rows}, %b: tensor<16xf32> {sdy.sharding = #rows}) -> tensor<48xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<32xf32>, tensor<16xf32>) -> tensor<48xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<48xf32>
  return %1 : tensor<48xf32>
}

// CHECK-LABEL: func.func @reversed
// CHECK-NOT: collective_permute
// CHECK: %[[G:.*]] = "stablehlo.all_gather"
// CHECK: stablehlo.pad
// CHECK: stablehlo.reverse
// CHECK-NOT: collective_permute
// CHECK: return
func.func @reversed(%a: tensor<30xf32>) -> tensor<32xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : tensor<30xf32>
  %0 = stablehlo.pad %n, %z, low = [1], high = [1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<30xf32>, tensor<f32>) -> tensor<32xf32>
  %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : tensor<32xf32>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<32xf32>
  return %2 : tensor<32xf32>
}

// CHECK-LABEL: func.func @both
// CHECK: collective_permute
// CHECK: return
func.func @both(%a: tensor<32xf32> {sdy.sharding = #rows}, %b: tensor<16xf32> {sdy.sharding = #rows}) -> (tensor<48xf32>, tensor<48xf32> {sdy.sharding = #rows}) {
  %0 = stablehlo.concatenate %a, %b, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<32xf32>, tensor<16xf32>) -> tensor<48xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<48xf32>
  return %1, %0 : tensor<48xf32>, tensor<48xf32>
}

// CHECK-LABEL: func.func @part
// CHECK: collective_permute
// CHECK: "stablehlo.all_gather"({{.*}} : (tensor<6xf32>) -> tensor<24xf32>
// CHECK: return
func.func @part(%a: tensor<320xf32> {sdy.sharding = #rows}, %b: tensor<16xf32> {sdy.sharding = #rows}) -> tensor<24xf32> {
  %s = stablehlo.slice %a [8:16] {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<320xf32>) -> tensor<8xf32>
  %0 = stablehlo.concatenate %s, %b, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[#rows]>} : (tensor<8xf32>, tensor<16xf32>) -> tensor<24xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<24xf32>
  return %1 : tensor<24xf32>
}
