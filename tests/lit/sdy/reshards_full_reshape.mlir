// A minor factor of a dimension is cut only behind major ones that are cut to the end. Axes that do
// not divide a factor are dealt anew to both sides.
// RUN: terrazzo opt %s -sdy-insert-explicit-reshards=enable-full-version=true | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=3]>

func.func @of_one(%arg0: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<1x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @minor(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4x6xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

func.func @merged(%arg0: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"z"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x"}]>}) {
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", "x"}]>]>} : (tensor<2x6xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

func.func @split(%arg0: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x"}]>}) -> (tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z"}]>}) {
  %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"z"}]>]>} : (tensor<12xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @of_one
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<1x8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT: return %1 : tensor<8xf32>

// CHECK-LABEL: func.func @minor
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<4x6xf32>
// CHECK-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4x6xf32>) -> tensor<24xf32>
// CHECK-NEXT: return %1 : tensor<24xf32>

// CHECK-LABEL: func.func @merged
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "z"}]>]>} : (tensor<2x6xf32>) -> tensor<12xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{"z", "x"}]> : tensor<12xf32>
// CHECK-NEXT: return %1 : tensor<12xf32>

// CHECK-LABEL: func.func @split
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x", "z"}]> : tensor<12xf32>
// CHECK-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"z"}]>]>} : (tensor<12xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"z"}]> : tensor<2x6xf32>
// CHECK-NEXT: return %2 : tensor<2x6xf32>
