// The notation of Shardy's older pages is told how it is written today.
// RUN: not terrazzo opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: error: expected operation name in quotes
// CHECK: note: a mesh is written 'sdy.mesh @mesh_xy = <["x"=2]>'
@mesh_xy = <["x"=2, "y"=2]>

// -----

sdy.mesh @m = <["x"=2]>
func.func @group(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: error: custom op 'sharding_group' is unknown
  // CHECK: note: did you mean 'sdy.sharding_group'?
  sharding_group %arg0, id=0 : tensor<8xf32>
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @m = <["x"=2]>
func.func @manual(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    // CHECK: error: Dialect `' not found for custom op 'return'
    // CHECK: note: names have no default dialect here: in sdy's regions it is 'sdy.return'
    return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @group_with_a_result(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: error: custom op 'sdy.sharding_group' expected 'group_id'
  // CHECK: note: a group is written 'sdy.sharding_group %a group_id=0 : tensor<2xf32>', and has no result
  %0 = sdy.sharding_group %arg0, id=0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK: error: custom op 'mesh' is unknown
// CHECK: note: did you mean 'sdy.mesh'?
mesh @mesh_xy = <["x"=2, "y"=2]>

// -----

sdy.mesh @m = <["x"=2]>
// CHECK: error: expected attribute value
// CHECK: note: an attribute is written with its name, such as '#sdy.sharding<@mesh, [{}]>'
func.func @sharding_without_its_name(%arg0: tensor<8xf32> {sdy.sharding=<@m, [{"x"}]>}) {
  return
}

// -----

// CHECK: error: #"sdyy"<"sharding
// CHECK: note: did you mean 'sdy'?
func.func @misspelt_dialect(%arg0: tensor<8xf32> {sdy.sharding = #sdyy.sharding<@m, [{}]>}) {
  return
}
