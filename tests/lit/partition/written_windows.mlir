// One window at a known place: where it is most of the array, shards get the update's rows from their
// neighbours; a few rows are brought, updated and written back by whoever has them. A window that
// is not all inside is left to the scatter, which does not write it.
// RUN: terrazzo partition %s --stats 2>/dev/null | FileCheck %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=4]>

// CHECK: collective_permute         2  "x"                     64 B {{.*}}:14:8
// CHECK-NEXT: collective_permute         2  "x"                     24 B {{.*}}:19:11
// CHECK-NEXT: all_reduce                 4  "x"                     96 B {{.*}}:25:11
// CHECK-NEXT: all_gather                 4  "x"                  1.5 KiB {{.*}}:31:11
func.func @main(%u: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.slice %u [2:64, 1:7] : (tensor<64x8xf32>) -> tensor<62x6xf32>
  %1 = stablehlo.cosine %0 : tensor<62x6xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %2 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<i32>) -> tensor<1xi32>
  %at = stablehlo.concatenate %2, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %most = "stablehlo.scatter"(%u, %at, %1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<2xi32>, tensor<62x6xf32>) -> tensor<64x8xf32>
  %row = stablehlo.constant dense<15> : tensor<1xi32>
  %new = stablehlo.constant dense<2.0> : tensor<2x8xf32>
  %some = "stablehlo.scatter"(%most, %row, %new) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<1xi32>, tensor<2x8xf32>) -> tensor<64x8xf32>
  %far = stablehlo.constant dense<63> : tensor<1xi32>
  %none = "stablehlo.scatter"(%some, %far, %new) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<1xi32>, tensor<2x8xf32>) -> tensor<64x8xf32>
  return %some, %none : tensor<64x8xf32>, tensor<64x8xf32>
}

// SAME: the sharded program computes what the whole one does
