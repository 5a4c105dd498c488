// RUN: terrazzo opt %s --canonicalize | FileCheck %s
// RUN: terrazzo opt %s --canonicalize=enable-patterns=sdy-collective | FileCheck %s --check-prefix=ONLY

sdy.mesh @m = <["a"=2, "b"=4, "one"=1]>

// CHECK-LABEL: func @scatter
// CHECK-NEXT:    %[[R:.*]] = sdy.reduce_scatter [{"a"}, {}] %arg0 out_sharding=<@m, [{"a"}, {}]>
// CHECK-NEXT:    %[[S:.*]] = sdy.all_slice [{}, {"b"}] %[[R]] out_sharding=<@m, [{"a"}, {"b"}]>
// CHECK-NEXT:    return %[[S]]
func.func @scatter(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"a"} %x out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"a"}, {"b"}] %0 out_sharding=<@m, [{"a"}, {"b"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// CHECK-LABEL: func @exchanges
// CHECK-NEXT:    %[[X:.*]] = sdy.all_to_all [{"a"}: 0->2, {"b"}: 1->3] %arg0
// CHECK-NEXT:    return %[[X]]
func.func @exchanges(%x: tensor<8x8x8x8xf32>
    {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}, {}, {}]>}) -> tensor<8x8x8x8xf32> {
  %0 = sdy.all_to_all [{"b"}: 1->3] %x out_sharding=<@m, [{"a"}, {}, {}, {"b"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"a"}: 0->2] %0 out_sharding=<@m, [{}, {}, {"a"}, {"b"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}

// An unused collective stays, as it does in Shardy.
// CHECK-LABEL: func @back_and_forth
// CHECK-NEXT:    sdy.all_gather
// CHECK-NEXT:    return %arg0
func.func @back_and_forth(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>})
    -> tensor<8xf32> {
  %0 = sdy.all_gather [{"a"}] %x out_sharding=<@m, [{}]> : tensor<8xf32>
  %1 = sdy.all_slice [{"a"}] %0 out_sharding=<@m, [{"a"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func @reshards
// CHECK-NEXT:    %[[R:.*]] = sdy.reshard %arg0 <@m, [{"b"}, {}]>
// CHECK-NEXT:    %[[V:.*]] = stablehlo.reshape %[[R]]
// CHECK-NEXT:    return %[[R]], %[[V]]
// ONLY-LABEL: func @reshards
// ONLY-COUNT-3: sdy.reshard
func.func @reshards(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<32xf32>) {
  %0 = sdy.reshard %x <@m, [{"a"}, {}]> : tensor<8x4xf32>
  %1 = sdy.reshard %0 <@m, [{"b"}, {}]> : tensor<8x4xf32>
  %2 = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<32xf32>
  %3 = sdy.reshard %2 <@m, [{"b"}]> : tensor<32xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<32xf32>
}

// CHECK-LABEL: func @manual
// CHECK-NEXT:    %[[N:.*]] = stablehlo.negate %arg0
// CHECK-NEXT:    sdy.manual_computation(%arg1)
// CHECK-SAME:        in_shardings=[<@m, [{"a"}]>]
func.func @manual(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"one"}]>] out_shardings=[<@m, [{"one"}]>]
      manual_axes={"one"} (%a: tensor<4xf32>) {
    %n = stablehlo.negate %a : tensor<4xf32>
    sdy.return %n : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sdy.manual_computation(%x, %y) in_shardings=[<@m, [{}]>, <@m, [{"a"}]>]
      out_shardings=[<@m, [{"a"}]>] manual_axes={"a"} (%a: tensor<4xf32>, %b: tensor<2xf32>) {
    sdy.return %b : tensor<2xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
