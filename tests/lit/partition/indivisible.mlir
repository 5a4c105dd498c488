// Axes that do not divide a dimension are dropped in signatures and at the borders of manual
// computations; elsewhere those that would leave half of the padded size empty.
// RUN: terrazzo opt %s -terrazzo-drop-indivisible-axes | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK: func.func @main(%arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK-SAME: tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
func.func @main(%arg0: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK-NEXT: sdy.reshard %arg0 <@mesh, [{"x", "y"}, {}]>
  %0 = sdy.reshard %arg0 <@mesh, [{"x", "y"}, {}]> : tensor<6x8xf32>
  // CHECK-NEXT: stablehlo.tanh {{.*}}<@mesh, [{"y"}, {"x"}]>
  %1 = stablehlo.tanh %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : tensor<6x8xf32>
  // CHECK-NEXT: stablehlo.slice {{.*}}<@mesh, [{"x"}, {}]>
  %2 = stablehlo.slice %1 [0:3, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : (tensor<6x8xf32>) -> tensor<3x8xf32>
  // CHECK-NEXT: sdy.manual_computation(%2) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>]
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"y"}, {"x"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={"x"} (%a: tensor<3x4xf32>) {
    %4 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<3x4xf32>
    sdy.return %4 : tensor<3x4xf32>
  } : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %3 : tensor<3x8xf32>
}

// No elements lie evenly on any number of devices; within a program they need no axes.
// CHECK: func.func @nothing(%arg0: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
// CHECK-SAME: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}
func.func @nothing(%arg0: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // CHECK-NEXT: stablehlo.tanh {{.*}}<@mesh, [{}, {"x"}]>
  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : tensor<0x8xf32>
  return %0 : tensor<0x8xf32>
}
