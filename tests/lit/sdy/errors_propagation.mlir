// What breaks the invariants of manual computations, groups and constraints is named.
// RUN: terrazzo opt %s -split-input-file -sdy-propagation-pipeline -verify-diagnostics

sdy.mesh @one = <["a"=2, "b"=2]>
sdy.mesh @two = <["a"=2, "c"=2]>
func.func @one_mesh(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op all in and out shardings must be bound to the same mesh or an empty mesh.}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@one, [{"a"}, {}]>] out_shardings=[<@two, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @axis_of_the_mesh(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op unknown manual axis: "c"}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@one, [{"a"}, {}]>] out_shardings=[<@one, [{"a"}, {}]>] manual_axes={"c"} (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @used_in_none(%arg0: tensor<f32>) {
  // expected-error @+1 {{'sdy.manual_computation' op op has manual_axes when there are no in/out shardings and the body is not empty}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"a"} () {
    stablehlo.custom_call @foo() {has_side_effect = true} : () -> ()
    sdy.return
  } : () -> ()
  return
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @manual_before_free(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op operand sharding at index 0 must have all manual axes come before free axes in its dimension sharding at index 0. Saw manual axis "a" after free axis "b"}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@one, [{"b", "a"}, {}]>] out_shardings=[<@one, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @local_body(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op operand shape, corresponding sharding, and region operand shape at index 0 must match. Expected local shape 'tensor<4x8xf32>', actual local shape 'tensor<8x8xf32>'}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@one, [{"a"}, {}]>] out_shardings=[<@one, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @rank_of_a_constraint(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'sdy.sharding_constraint' op sharding doesn't match tensor rank: 1 != 2}}
  %0 = sdy.sharding_constraint %arg0 <@one, [{"a"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @axis_used_twice(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'sdy.sharding_constraint' op duplicate axis ref: "a"}}
  %0 = sdy.sharding_constraint %arg0 <@one, [{"a"}, {"a"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @shapes_in_a_group(%arg0: tensor<8x8xf32>, %arg1: tensor<8x4xf32>) -> tensor<8x8xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x8xf32>
  // expected-error @+1 {{'sdy.sharding_group' op ShardingGroupOps values must have the same shape for groupId: 0}}
  sdy.sharding_group %arg1 group_id=0 : tensor<8x4xf32>
  return %arg0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
func.func @group_across_a_border(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x8xf32>
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@one, [{}, {}], replicated={"a"}>] out_shardings=[<@one, [{}, {}], replicated={"a"}>] manual_axes={"a"} (%arg1: tensor<8x8xf32>) {
    // expected-error @+1 {{'sdy.sharding_group' op ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: 0}}
    sdy.sharding_group %arg1 group_id=0 : tensor<8x8xf32>
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @one = <["a"=2, "b"=2]>
// expected-warning @+1 {{The initial operand shardings on the sharding groups of groupID: 0 do not match. Inserting an open sharding constraint to all constrained values.}}
func.func @members_that_disagree(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one, [{"a"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one, [{"b"}, {}]>}) -> tensor<8x8xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x8xf32>
  sdy.sharding_group %arg1 group_id=0 : tensor<8x8xf32>
  return %arg0 : tensor<8x8xf32>
}

// -----

func.func @recursion(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @again(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @again(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op calls 'again', which calls back}}
  %0 = call @again(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
