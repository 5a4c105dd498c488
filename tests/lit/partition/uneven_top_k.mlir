// The greatest along a dimension that the axis does not divide: shards are padded with what no
// element is behind, and offer their greatest.
// RUN: terrazzo opt %s -terrazzo-reduce-in-parts | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @greatest(%arg0: tensor<3x50xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<3x4xbf16>, tensor<3x4xi32>) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<3x50xbf16>
  %values, %indices = chlo.top_k(%0, k = 4) : tensor<3x50xbf16> -> (tensor<3x4xbf16>, tensor<3x4xi32>)
  return %values, %indices : tensor<3x4xbf16>, tensor<3x4xi32>
}

// CHECK-LABEL: @greatest
// CHECK: %[[LEAST:.*]] = stablehlo.constant dense<0xFFFF> : tensor<bf16>
// CHECK: stablehlo.pad {{.*}}, %[[LEAST]], low = [0, 0], high = [0, 2]
// CHECK: chlo.top_k({{.*}}, k = 4) {{.*}}tensor<3x4x13xbf16>

// Of this type nobody wrote down which bits come last.
func.func @narrow(%arg0: tensor<3x50xf8E4M3FNUZ> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<3x4xf8E4M3FNUZ>, tensor<3x4xi32>) {
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<3x50xf8E4M3FNUZ>
  %values, %indices = chlo.top_k(%0, k = 4) : tensor<3x50xf8E4M3FNUZ> -> (tensor<3x4xf8E4M3FNUZ>, tensor<3x4xi32>)
  return %values, %indices : tensor<3x4xf8E4M3FNUZ>, tensor<3x4xi32>
}

// CHECK-LABEL: @narrow
// CHECK-NOT: stablehlo.pad
