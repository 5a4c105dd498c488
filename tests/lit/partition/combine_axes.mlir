// A list of groups that the program has is joined with axes that say the same.
// RUN: terrazzo opt %s "-sdy-propagation-pipeline=leave-reshards=true" "-terrazzo-partition=unseen=true" | FileCheck %s

sdy.mesh @m = <["x"=2, "y"=2]>

// CHECK: stablehlo.dot_general
// CHECK-NOT: all_reduce
// CHECK: %{{.*}}:2 = "stablehlo.all_reduce"(%{{.*}}, %{{.*}}) <{
// CHECK-NOT: "stablehlo.all_reduce"
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<8x6xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.tanh %0 : tensor<4x6xf32>
  %2 = sdy.manual_computation(%c) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%d: tensor<4x6xf32>) {
    %3 = "stablehlo.all_reduce"(%d) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    sdy.return %3 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %1, %2 : tensor<4x6xf32>, tensor<8x6xf32>
}
