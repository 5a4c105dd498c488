// Extra edges of stablehlo.if: as those of case, from what the regions return to the results.
// RUN: terrazzo opt %s -sdy-propagation-pipeline=extra-rules=true | FileCheck %s
// RUN: terrazzo opt %s -sdy-propagation-pipeline=extra-rules=true -terrazzo-partition | FileCheck %s --check-prefix=LOCAL
// RUN: terrazzo opt %s -sdy-propagation-pipeline | FileCheck %s --check-prefix=OFF

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x4xf32>, %arg2: tensor<i1>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %0:2 = "stablehlo.if"(%arg2) ({
    %1 = stablehlo.negate %arg0 : tensor<8x4xf32>
    %2 = stablehlo.iota dim = 0 : tensor<4xf32>
    stablehlo.return %1, %2 : tensor<8x4xf32>, tensor<4xf32>
  }, {
    %1 = stablehlo.iota dim = 0 : tensor<4xf32>
    stablehlo.return %arg1, %1 : tensor<8x4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<8x4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<4xf32>
}

// CHECK: %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}
// CHECK-SAME: -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<4xf32>)
// CHECK: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>, <@mesh, [{}]>]>} : (tensor<i1>) -> (tensor<8x4xf32>, tensor<4xf32>)

// LOCAL: "stablehlo.if"(%arg2)
// LOCAL-NEXT: stablehlo.negate %arg0 : tensor<4x4xf32>
// LOCAL: }) : (tensor<i1>) -> (tensor<4x4xf32>, tensor<4xf32>)

// OFF: %arg1: tensor<8x4xf32>, %arg2
// OFF: }) : (tensor<i1>) -> (tensor<8x4xf32>, tensor<4xf32>)
