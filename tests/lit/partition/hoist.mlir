// What a loop hands on as it is, it need not gather in each round; what changes it must.
// RUN: terrazzo opt %s -terrazzo-hoist-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg2: tensor<i32>) -> tensor<16xf32> {
  %0:3 = stablehlo.while(%a = %arg0, %b = %arg1, %i = %arg2) : tensor<16xf32>, tensor<16xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, []>]>}
  cond {
    %1 = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.compare LT, %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = sdy.reshard %a <@mesh, [{}]> : tensor<16xf32>
    %2 = sdy.reshard %b <@mesh, [{}]> : tensor<16xf32>
    %3 = stablehlo.add %1, %2 : tensor<16xf32>
    %4 = sdy.reshard %3 <@mesh, [{"x"}]> : tensor<16xf32>
    %5 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %a, %4, %5 : tensor<16xf32>, tensor<16xf32>, tensor<i32>
  }
  return %0#1 : tensor<16xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg2: tensor<i32>) -> tensor<16xf32> {
// CHECK-NEXT:   %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT:   %1:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %arg2) : tensor<16xf32>, tensor<16xf32>, tensor<i32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, []>]>}
// CHECK-NEXT:   cond {
// CHECK-NEXT:     %c = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT:     %2 = stablehlo.compare LT, %iterArg_1, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT:     stablehlo.return %2 : tensor<i1>
// CHECK-NEXT:   } do {
// CHECK-NEXT:     %2 = sdy.reshard %iterArg_0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT:     %3 = stablehlo.add %0, %2 : tensor<16xf32>
// CHECK-NEXT:     %4 = sdy.reshard %3 <@mesh, [{"x"}]> : tensor<16xf32>
// CHECK-NEXT:     %5 = stablehlo.add %iterArg_1, %iterArg_1 : tensor<i32>
// CHECK-NEXT:     stablehlo.return %iterArg, %4, %5 : tensor<16xf32>, tensor<16xf32>, tensor<i32>
// CHECK-NEXT:   }
// CHECK-NEXT:   return %1#1 : tensor<16xf32>
// CHECK-NEXT: }
