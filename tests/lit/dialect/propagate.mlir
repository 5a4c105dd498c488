// A dialect from a shared object: its constants are split, shardings go through its ops, its loop,
// its regions and their transformed view.
// RUN: terrazzo opt %s --load-dialect %demo_dialect -split-input-file --sdy-import-pipeline | FileCheck %s --check-prefix=IMPORT
// RUN: terrazzo opt %s --load-dialect %demo_dialect -split-input-file --sdy-propagation-pipeline | FileCheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Each use of a constant gets its own: the dialect's constant becomes sdy's, its iota stays.
// IMPORT-LABEL: @constants
// CHECK-LABEL: @constants
func.func @constants(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // IMPORT-DAG: %[[C0:.*]] = sdy.constant dense<1.000000e+00>
  // IMPORT-DAG: %[[C1:.*]] = sdy.constant dense<1.000000e+00>
  // IMPORT-DAG: %[[I0:.*]] = demo.iota
  // IMPORT-DAG: %[[I1:.*]] = demo.iota
  // IMPORT-DAG: demo.add %arg0, %[[C0]]
  // IMPORT-DAG: demo.add %arg1, %[[C1]]
  // CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK: sdy.constant dense
  %c = demo.constant dense<1.0> : tensor<8x8xf32> -> tensor<8x8xf32>
  %i = demo.iota : tensor<8x8xf32>
  %0 = demo.add %arg0, %c : tensor<8x8xf32>
  %1 = demo.add %arg1, %c : tensor<8x8xf32>
  %2 = demo.add %0, %i : tensor<8x8xf32>
  %3 = demo.add %1, %i : tensor<8x8xf32>
  return %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An expression of constants is split whole: expand is constant-foldable, relu elementwise.
// IMPORT-LABEL: @constant_expression
// IMPORT-COUNT-2: demo.relu
// IMPORT-COUNT-2: demo.expand
func.func @constant_expression(%arg0: tensor<4x16xf32>, %arg1: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %c = demo.iota : tensor<4xf32>
  %r = demo.relu %c : tensor<4xf32>
  %e = demo.expand %r : (tensor<4xf32>) -> tensor<4x16xf32>
  %0 = demo.add %arg0, %e : tensor<4x16xf32>
  %1 = demo.add %arg1, %e : tensor<4x16xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Rules: of the dialect's own making, and pointwise for what is elementwise.
// CHECK-LABEL: @rules
// CHECK-SAME: %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
func.func @rules(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x4xf32>, %arg2: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}, %arg3: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  // CHECK: demo.matmul {{.*}}<[<@mesh, [{"x"}, {"y"}]>]>
  // CHECK: demo.expand {{.*}}<[<@mesh, [{"x"}, {}]>]>
  %0 = demo.matmul %arg0, %arg1 : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = demo.add %0, %arg2 : tensor<8x4xf32>
  %2 = demo.expand %arg3 : (tensor<8xf32>) -> tensor<8x16xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x16xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The worked example of sdy_op_interfaces: a while op, whose i-th edge has the sources x_i and
// return_value_i and the targets y_i, pred_arg_i and body_arg_i. The second one gets its sharding
// from inside the body.
// IMPORT-LABEL: @while_op
// IMPORT: %[[W:.*]]:2 = "demo.while"
// IMPORT: sdy.data_flow_edge %[[W]]#0
// IMPORT: sdy.data_flow_edge %[[W]]#1
// CHECK-LABEL: @while_op
// CHECK-SAME: %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
func.func @while_op(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>) -> (tensor<8x8xf32>, tensor<4xf32>) {
  // CHECK: "demo.while"(%arg0, %arg1)
  // CHECK: demo.relu %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK: demo.relu %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"y"}]>]>
  %w:2 = "demo.while"(%arg0, %arg1) ({
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<4xf32>):
    %r = demo.relu %a : tensor<8x8xf32>
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.custom_call @keep(%r) {has_side_effect = true} : (tensor<8x8xf32>) -> ()
    "demo.yield"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<4xf32>):
    %r = demo.relu %a : tensor<8x8xf32>
    %s = sdy.sharding_constraint %b <@mesh, [{"y"}]> : tensor<4xf32>
    "demo.yield"(%r, %s) : (tensor<8x8xf32>, tensor<4xf32>) -> ()
  }) : (tensor<8x8xf32>, tensor<4xf32>) -> (tensor<8x8xf32>, tensor<4xf32>)
  return %w#0, %w#1 : tensor<8x8xf32>, tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The other worked example: a custom op with edges from x_i to body_arg_i and from return_value_i
// to y_i; owners are the targets.
// CHECK-LABEL: @custom_op
// CHECK: "demo.apply"(%arg0, %arg1) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"y"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}>
// CHECK: demo.matmul %arg2, %arg3 {{.*}}<[<@mesh, [{"x"}, {"y"}]>]>
func.func @custom_op(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = "demo.apply"(%arg0, %arg1) ({
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %m = demo.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    "demo.yield"(%m) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// What the body sees is transformed: its dimensions are those outside in reverse.
// CHECK-LABEL: @transformed
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
// CHECK: in_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>
// CHECK: demo.relu %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>}
func.func @transformed(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = "demo.flipped"(%arg0) ({
  ^bb0(%a: tensor<8x8xf32>):
    %r = demo.relu %a : tensor<8x8xf32>
    "demo.yield"(%r) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A loop of this dialect that nobody uses and that has no effects is dead.
// CHECK-LABEL: @dead
// CHECK-NEXT: return
func.func @dead(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "demo.apply"(%arg0) ({
  ^bb0(%a: tensor<8x8xf32>):
    %r = demo.relu %a : tensor<8x8xf32>
    "demo.yield"(%r) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %arg0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The worked example of dialect_agnostic_sharding: a constant with three users. The sharding of the
// sum stays with the sum; what the others in the other part of the computation see is their own.
// IMPORT-LABEL: @constant_splitting
// IMPORT-COUNT-3: sdy.constant dense<2.000000e+00>
// CHECK-LABEL: @constant_splitting
// CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} dense<2.000000e+00>
// CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} dense<2.000000e+00>
// CHECK: sdy.constant dense<2.000000e+00>
// CHECK: stablehlo.add {{.*}}<[<@mesh, [{"x"}, {}]>]>
// CHECK: stablehlo.divide {{.*}}<[<@mesh, [{}, {"y"}]>]>
// CHECK: stablehlo.subtract %arg2, %{{[0-9]+}} : tensor
func.func @constant_splitting(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %arg2: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = demo.constant dense<2.0> : tensor<8x8xf32> -> tensor<8x8xf32>
  %0 = stablehlo.add %arg0, %c : tensor<8x8xf32>
  %1 = stablehlo.divide %arg1, %c : tensor<8x8xf32>
  %2 = stablehlo.subtract %arg2, %c : tensor<8x8xf32>
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
