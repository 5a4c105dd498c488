// What sdy-constant-or-scalar-splitter does to the order of uses: %arg0 wakes the loop's edge before the transpose in it.
// RUN: terrazzo opt %s --pass-pipeline='sdy-import-pipeline,sdy-basic-propagate' | FileCheck %s

sdy.mesh @mesh = <["a"=4]>
func.func @main(%arg0: tensor<24x24xf32>) -> (tensor<24x24xf32>, tensor<24x24xf32>) {
  %0 = stablehlo.while(%x = %arg0) : tensor<24x24xf32> cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<24x24xf32>) -> tensor<24x24xf32>
    stablehlo.return %1 : tensor<24x24xf32>
  }
  %2 = sdy.sharding_constraint %arg0 <@mesh, [{"a", ?}, {?}]> : tensor<24x24xf32>
  %3 = stablehlo.cosine %2 : tensor<24x24xf32>
  return %0, %3 : tensor<24x24xf32>, tensor<24x24xf32>
}

// CHECK: stablehlo.transpose %arg0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {?}]>]>}
// CHECK: sdy.data_flow_edge %0 sharding=<@mesh, [{"a", ?}, {?}]>
