// Each kind of collective, and the plan of a transposition.
// RUN: terrazzo opt %s -sdy-reshard-to-collectives | FileCheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  %3 = sdy.reshard %0 <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %4 = stablehlo.add %2, %3 : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// CHECK: sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
// CHECK-NEXT:   %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
// CHECK-NEXT:   %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
// CHECK-NEXT:   %2 = sdy.collective_permute %1 out_sharding=<@mesh, [{"y", "x":(2)2}, {"x":(1)2}]> : tensor<8x8xf32>
// CHECK-NEXT:   %3 = sdy.all_to_all [{"x":(2)2}: 0->1] %2 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
// CHECK-NEXT:   %4 = sdy.all_to_all [{"y"}: 1->0] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
// CHECK-NEXT:   %5 = stablehlo.add %3, %4 : tensor<8x8xf32>
// CHECK-NEXT:   return %5 : tensor<8x8xf32>
// CHECK-NEXT: }
