// Meshes, shardings, manual computations, collectives of sdy.
// RUN: terrazzo opt %s -verify-diagnostics -split-input-file

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - unknown mesh: @other}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - sharding doesn't match tensor rank: 1 != 2}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - unknown axis name: "z"}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - duplicate axis ref: "a"}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"a"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - overlapping sub-axes: "c":(1)2, "c":(1)4}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c":(1)2}, {"c":(1)4}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - both sub-axis and full-axis are used for axis name: "c"}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c":(1)2}, {"c"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - two consecutive sub-axes can be merged: "c":(1)2, "c":(2)2}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c":(1)2, "c":(2)2}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - sub-axis next pre-size 3 doesn't divide the size of the full axis 8}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c":(1)3}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - sub-axis size is equal to the full axis size}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b":(1)4}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - replicated axes are not ordered w.r.t. mesh}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"b", "a"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
// expected-error@+1 {{arg 0 - dim 0 is empty and closed but has a priority}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p0, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{result shardings don't match number of values: 2 shardings vs 1 values}}
  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error@+1 {{duplicate axis name: "a"}}
sdy.mesh @mesh = <["a"=2, "a"=4]>

// -----

// expected-error@+2 {{failed to parse Sdy_Mesh parameter}}
// expected-error@+1 {{axis size must be at least 1, got: 0}}
sdy.mesh @mesh = <["a"=0]>

// -----

// expected-error@+1 {{total product of axis sizes must match total number of device ids, got: 2 != 3}}
sdy.mesh @mesh = <["a"=2], device_ids=[0, 1, 2]>

// -----

// expected-error@+1 {{sorted device ids must be iota(product(axes)), got: 1, 1}}
sdy.mesh @mesh = <["a"=2], device_ids=[1, 1]>

// -----

// expected-error@+1 {{the mesh has more than 2^63 devices}}
sdy.mesh @mesh = <["a"=4294967296, "b"=4294967296]>

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{operand shape, corresponding sharding, and region operand shape at index 0 must match. Expected local shape 'tensor<4x8xf32>', actual local shape 'tensor<8x8xf32>'}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{result shape, corresponding sharding, and region result shape at index 0 must match}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{must have all manual axes come before free axes}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"b", "a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{unknown manual axis: "z"}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a", "z"} (%arg1: tensor<4x8xf32>) {
    sdy.return %arg1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note@+1 {{parent bounding this axis as manual}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    // expected-error@+1 {{operates on axis "a" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{"a"}, {}]> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}) -> tensor<8x8xf32> {
  // expected-error@+1 {{can't apply gathering axis "a" to operand sharding on dimension 0}}
  %0 = sdy.all_gather [{"a"}, {}] %arg0 out_sharding=<@mesh, [{"b"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
  // expected-error@+1 {{result sharding doesn't match expected sharding ["a", "b"] on dimension 0}}
  %0 = sdy.all_slice [{"b"}, {}] %arg0 out_sharding=<@mesh, [{"b"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=8]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{collective on operand without sharding}}
  %0 = sdy.all_gather [{"a"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @main(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{has factor j=2 that isn't used in operand and result mappings}}
  %0 = stablehlo.custom_call @f(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, k]) {i=2, j=2, k=2}>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @main(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{reduction factor cannot be in result mappings}}
  %0 = stablehlo.custom_call @f(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=2} reduction={j}>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

sdy.mesh @mesh = <["a"=8]>
// expected-error@+1 {{arg 0 - replicated axes are not ordered w.r.t. mesh}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"a":(4)2, "a":(1)2}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {}, {}]>}) {
  // expected-error@+1 {{source dimensions are not sorted in ascending order: 0 appears after 1}}
  %0 = sdy.all_to_all [{"b"}: 1->2, {"a"}: 0->3] %arg0 out_sharding=<@mesh, [{}, {}, {"b"}, {"a"}]> : tensor<8x8x8x8xf32>
  return
}

// -----

sdy.mesh @m1 = <["a"=2, "b"=2]>
sdy.mesh @m2 = <["a"=2, "b"=2]>
// expected-note@+1 {{operand mesh: #sdy.mesh<["a"=2, "b"=2]>}}
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m1, [{"a"}, {}]>}) {
  // expected-error@+1 {{result mesh name is different but same device ids as operand}}
  %0 = sdy.collective_permute %arg0 out_sharding=<@m2, [{"b"}, {}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"a"}>}) {
  // expected-error@+1 {{cannot change the reduction operator of kept unreduced axes from max to sum.}}
  %0 = sdy.reshard %arg0 <@mesh, [{}, {}], unreduced={"a"}> : tensor<8x8xf32>
  return
}
