// Ops of a foreign dialect are partitioned as their rules and edges say: parts of a sum along a
// reduction factor, no reshard where an edge agrees with itself. An op that says nothing sees all
// of its operands, but what is inside is still partitioned.
// RUN: terrazzo opt %s --load-dialect %demo_dialect -allow-unregistered-dialect -terrazzo-insert-reshards | FileCheck %s
// RUN: terrazzo opt %s --load-dialect %demo_dialect -allow-unregistered-dialect -terrazzo-partition | FileCheck %s --check-prefix=LOCAL

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: @matmul
// CHECK-NEXT: %[[M:.*]] = demo.matmul %arg0, %arg1 {{.*}}<[<@mesh, [{}, {"y"}]>]>
// CHECK-NEXT: %[[S:.*]] = sdy.all_reduce {"x"} %[[M]] out_sharding=<@mesh, [{}, {"y"}]>
// CHECK-NEXT: return %[[S]]
// LOCAL-LABEL: @matmul
// LOCAL: demo.matmul %arg0, %arg1 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
// LOCAL-NEXT: "stablehlo.all_reduce"
func.func @matmul(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = demo.matmul %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: @while_agrees
// CHECK-NOT: sdy.reshard
// LOCAL-LABEL: @while_agrees
// LOCAL: "demo.while"(%arg0, %arg1)
// LOCAL: demo.relu %arg2 : tensor<4x8xf32>
// LOCAL: stablehlo.negate %arg3 : tensor<2xf32>
func.func @while_agrees(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0:2 = "demo.while"(%arg0, %arg1) ({
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<4xf32>):
    %c = demo.relu %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    "demo.yield"(%c) : (tensor<8x8xf32>) -> ()
  }, {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<4xf32>):
    %c = demo.relu %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    %d = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<4xf32>
    "demo.yield"(%c, %d) : (tensor<8x8xf32>, tensor<4xf32>) -> ()
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"y"}]>]>} : (tensor<8x8xf32>, tensor<4xf32>) -> (tensor<8x8xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<8x8xf32>, tensor<4xf32>
}

// CHECK-LABEL: @while_differs
// CHECK: %[[IN:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"x"}]>
// CHECK: "demo.while"(%[[IN]])
// CHECK: %[[SUM:.*]] = demo.add %arg1, %arg1 {{.*}}<[<@mesh, [{"y"}, {}]>]>
// CHECK-NEXT: %[[OUT:.*]] = sdy.reshard %[[SUM]] <@mesh, [{}, {"x"}]>
// CHECK-NEXT: "demo.yield"(%[[OUT]])
// LOCAL-LABEL: @while_differs
func.func @while_differs(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = "demo.while"(%arg0) ({
  ^bb0(%a: tensor<8x8xf32>):
    "demo.yield"(%a) : (tensor<8x8xf32>) -> ()
  }, {
  ^bb0(%a: tensor<8x8xf32>):
    %c = demo.add %arg1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
    "demo.yield"(%c) : (tensor<8x8xf32>) -> ()
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What the body sees of the dimensions is reversed.
// CHECK-LABEL: @flipped
// CHECK-NEXT: "demo.flipped"(%arg0)
// CHECK: %[[ALL:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
// CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[ALL]], %arg1
// CHECK-NEXT: %[[OUT:.*]] = sdy.reshard %[[DOT]] <@mesh, [{}, {"y"}]>
// CHECK-NEXT: "demo.yield"(%[[OUT]])
// LOCAL-LABEL: @flipped
// LOCAL: ^bb0(%arg1: tensor<8x4xf32>):
// LOCAL: (tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @flipped(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = "demo.flipped"(%arg0) ({
  ^bb0(%a: tensor<8x8xf32>):
    %d = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    "demo.yield"(%d) : (tensor<8x8xf32>) -> ()
  }) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: @unknown
// CHECK-NEXT: %[[ALL:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT: "what.ever"(%[[ALL]])
// CHECK: %[[SUM:.*]] = stablehlo.add {{.*}}<[<@mesh, [{"y"}, {}]>]>
// CHECK-NEXT: %[[END:.*]] = sdy.reshard %[[SUM]] <@mesh, [{}, {}]>
// CHECK-NEXT: "what.yield"(%[[END]])
// LOCAL-LABEL: @unknown
// LOCAL: ^bb0(%arg1: tensor<8x8xf32>):
// LOCAL: stablehlo.negate %arg0 : tensor<4x8xf32>
func.func @unknown(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = "what.ever"(%arg0) ({
  ^bb0(%a: tensor<8x8xf32>):
    %c = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    %e = stablehlo.add %a, %c {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
    "what.yield"(%e) : (tensor<8x8xf32>) -> ()
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A constant-like op is made local by its dialect, as iota here, which counts from where the shard
// begins, or else is made whole, and each device takes its part.
// LOCAL-LABEL: @made
// LOCAL: %[[ID:.*]] = stablehlo.partition_id
// LOCAL: %[[X:.*]] = stablehlo.divide
// LOCAL: %[[BEGIN:.*]] = stablehlo.multiply %[[X]], %{{.*}} : tensor<i64>
// LOCAL-NEXT: %[[IOTA:.*]] = demo.iota : tensor<4x2xf32>
// LOCAL-NEXT: %[[F:.*]] = stablehlo.convert %[[BEGIN]] : (tensor<i64>) -> tensor<f32>
// LOCAL-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = [] : (tensor<f32>) -> tensor<4x2xf32>
// LOCAL-NEXT: %[[R:.*]] = demo.add %[[IOTA]], %[[B]] : tensor<4x2xf32>
// LOCAL-NEXT: %[[ALL:.*]] = demo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
// LOCAL: %[[C:.*]] = stablehlo.dynamic_slice %[[ALL]], %{{.*}}, sizes = [2] : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
// LOCAL-NEXT: %[[RELU:.*]] = demo.relu %[[R]] : tensor<4x2xf32>
// LOCAL-NEXT: return %[[RELU]], %[[C]]
func.func @made() -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = demo.iota {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x4xf32>
  %1 = demo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> tensor<4xf32>
  %2 = demo.relu %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x4xf32>
  return %2, %1 : tensor<8x4xf32>, tensor<4xf32>
}

// Sums go through what its dialect calls linear, and are closed once.
// CHECK-LABEL: @linear
// CHECK-NEXT: %[[M:.*]] = demo.matmul %arg0, %arg1 {{.*}}<[<@mesh, [{}, {}], unreduced={"x"}>]>
// CHECK-NEXT: %[[A:.*]] = demo.add %[[M]], %[[M]] {{.*}}<[<@mesh, [{}, {}], unreduced={"x"}>]>
// CHECK-NEXT: %[[S:.*]] = sdy.all_reduce {"x"} %[[A]] out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: %[[R:.*]] = demo.relu %[[S]]
// CHECK-NEXT: return %[[R]]
func.func @linear(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = demo.matmul %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = demo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<8x4xf32>
  %2 = demo.relu %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
