// Without leave-none reshards are planned whatever the sizes, what is replicated goes to another
// order of devices too, and those that have no plan stay.
// RUN: terrazzo opt %s -sdy-reshard-to-collectives | FileCheck %s --check-prefixes=CHECK,DROP
// RUN: terrazzo opt %s -sdy-reshard-to-collectives="keep-redundant-reshards" | FileCheck %s --check-prefixes=CHECK,KEEP

sdy.mesh @m = <["x"=2, "y"=3]>
sdy.mesh @other_order = <["x"=2, "y"=3], device_ids=[5, 4, 3, 2, 1, 0]>
sdy.mesh @other_name = <["x"=2, "y"=3]>
sdy.mesh @other_axes = <["x"=3, "y"=2]>
sdy.mesh @one = <[], device_ids=[1]>

// CHECK-LABEL: @uneven
// CHECK-NEXT: %[[S:.*]] = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@m, [{"x"}, {"y"}]> : tensor<5x7xf32>
// CHECK-NEXT: sdy.all_gather [{"x"}, {}] %[[S]] out_sharding=<@m, [{}, {"y"}]>
func.func @uneven(%arg0: tensor<5x7xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<5x7xf32> {
  %0 = sdy.reshard %arg0 <@m, [{}, {"y"}]> : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: @orders
// CHECK-NEXT: %[[S:.*]] = sdy.all_slice [{"x"}] %arg0 out_sharding=<@m, [{"x"}]>
// CHECK-NEXT: %[[P:.*]] = sdy.collective_permute %[[S]] out_sharding=<@other_order, [{"x"}]>
// CHECK-NEXT: %[[G:.*]] = sdy.all_gather [{"y"}] %arg1 out_sharding=<@m, [{}]>
// CHECK-NEXT: return %[[P]], %arg1, %[[G]]
func.func @orders(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}, %arg1: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = sdy.reshard %arg0 <@other_order, [{"x"}]> : tensor<6xf32>
  %1 = sdy.reshard %arg1 <@other_name, [{"y"}]> : tensor<6xf32>
  %2 = sdy.reshard %arg1 <@other_order, [{}]> : tensor<6xf32>
  return %0, %1, %2 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: @stay
// CHECK-NEXT: %[[A:.*]] = sdy.reshard %arg0 <@other_axes, [{"x"}]>
// CHECK-NEXT: %[[B:.*]] = sdy.reshard %arg0 <@one, []>
// KEEP-NEXT: %[[C:.*]] = sdy.reshard %arg0 <@m, [{"y"}]>
// KEEP-NEXT: return %[[A]], %[[B]], %[[C]]
// DROP-NEXT: return %[[A]], %[[B]], %arg0
func.func @stay(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = sdy.reshard %arg0 <@other_axes, [{"x"}]> : tensor<6xf32>
  %1 = sdy.reshard %arg0 <@one, []> : tensor<6xf32>
  %2 = sdy.reshard %arg0 <@m, [{"y"}]> : tensor<6xf32>
  return %0, %1, %2 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// Barriers are looked through.
// CHECK-LABEL: @barrier
// CHECK-NEXT: sdy.propagation_barrier
// CHECK-NEXT: sdy.all_gather [{"y"}] %arg0
func.func @barrier(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) -> tensor<6xf32> {
  %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<6xf32>
  %1 = sdy.reshard %0 <@m, [{}]> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
