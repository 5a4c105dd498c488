// What explicit reshards left in a program: the sums behind a product and behind a maximum are made
// once, as the ops ask for them; what a sharding says is unreduced ends where the program ends it.
// RUN: terrazzo opt %s -terrazzo-collectives-to-reshards -terrazzo-drop-indivisible-axes -terrazzo-insert-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4xf32>, tensor<4x3xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[DOT:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[SUM:.*]] = sdy.all_reduce {"x"} %[[DOT]] out_sharding=<@mesh, [{}, {}]>
  // CHECK-NEXT: %[[CUT:.*]] = sdy.reshard %[[SUM]] <@mesh, [{"x"}, {}]>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %1 = sdy.reduce_scatter [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x3xf32>
  // CHECK-NEXT: %[[MAX:.*]] = stablehlo.reduce(
  // CHECK-NEXT: %[[ALL:.*]] = sdy.all_reduce max {"x"} %[[MAX]] out_sharding=<@mesh, [{}]>
  %2 = stablehlo.reduce(%arg0 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}]> : tensor<4xf32>
  // CHECK-NEXT: %[[PARTS:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[ENDED:.*]] = sdy.all_reduce {"x"} %[[PARTS]] out_sharding=<@mesh, [{}, {}]>
  %4 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %5 = sdy.all_reduce {"x"} %4 out_sharding=<@mesh, [{}, {}]> : tensor<4x3xf32>
  %6 = sdy.all_reduce {"x"} %5 out_sharding=<@mesh, [{}, {}]> : tensor<4x3xf32>
  // two devices do not divide three columns
  %7 = sdy.all_slice [{}, {"y"}] %6 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x3xf32>
  // CHECK-NEXT: return %[[CUT]], %[[ALL]], %[[ENDED]]
  return %1, %3, %7 : tensor<4x3xf32>, tensor<4xf32>, tensor<4x3xf32>
}
