// What is cut along an axis that is to be left as a sum stays where it is, with zeros elsewhere; and
// what is read only to be left as a sum is made as one.
// RUN: terrazzo opt %s -terrazzo-insert-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<4x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<2xf32>
// CHECK: "stablehlo.scatter"(%{{.*}}, %arg1, %arg0)
// CHECK: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
  %2 = "stablehlo.scatter"(%1, %arg1, %arg0) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<2xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<2xf32>
// CHECK-NOT: replicated_to_unreduced
// CHECK: %[[SHARDS:.*]] = sdy.sharded_to_unreduced [{"x"}] %arg0 out_sharding=<@mesh, [{}], unreduced={"x"}> : tensor<4xf32>
  %3 = sdy.reshard %2 <@mesh, [{}], unreduced={"x"}> : tensor<2xf32>
// CHECK: return %[[SHARDS]]
  return %arg0, %3 : tensor<4xf32>, tensor<2xf32>
}

// Parts that are written into parts, or become wider ones, are parts; a rounded sum is none of
// rounded parts.
// CHECK-LABEL: func.func @update
// CHECK-NOT: all_reduce
// CHECK: stablehlo.convert %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
// CHECK: stablehlo.dynamic_update_slice %arg0, {{.*}}unreduced={"x"}
// CHECK: sdy.all_reduce {"x"} %{{.*}} : tensor<4xf32>
// CHECK: stablehlo.convert {{.*}} -> tensor<4xbf16>
func.func @update(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg1: tensor<1xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %arg2: tensor<i32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, tensor<4xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.convert %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<1xbf16>) -> tensor<1xf32>
  %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  %2 = stablehlo.convert %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<4xf32>) -> tensor<4xbf16>
  return %1, %2 : tensor<4xf32>, tensor<4xbf16>
}
