// Operands of a named computation are where its in_shardings say, as its body's arguments are.
// RUN: terrazzo opt %s -terrazzo-insert-reshards | FileCheck %s
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s --check-prefix=LOCAL

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: @named
// CHECK-NEXT: %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: sdy.named_computation<"f">(%arg0, %[[B]])
// LOCAL-LABEL: @named
// LOCAL: sdy.named_computation<"f">
// LOCAL-SAME: (%[[X:arg[0-9]+]]: tensor<4x4xf32>, %[[Y:arg[0-9]+]]: tensor<4x4xf32>)
// LOCAL-NEXT: stablehlo.add %[[X]], %[[Y]] : tensor<4x4xf32>
func.func @named(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.named_computation<"f">(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) {
    %1 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
    sdy.return %1 : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// What is inside sees nothing from outside, so the device's position is asked for again.
// LOCAL-LABEL: @position
// LOCAL: stablehlo.partition_id
// LOCAL: sdy.named_computation<"g">
// LOCAL-NEXT: stablehlo.partition_id
// LOCAL: sdy.return
func.func @position(%arg0: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %i = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xi32>
  %0 = sdy.named_computation<"g">(%i) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] (%a: tensor<8xi32>) {
    %j = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xi32>
    %1 = stablehlo.add %a, %j {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xi32>
    sdy.return %1 : tensor<8xi32>
  } : (tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
