// compiler_api, invariants of manual computations, the example in breach of each that the verifier holds; the
// first is the one that the text spells out, {"model", "data"}. The import makes the others true: see
// docs_manual_axes.mlir.
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh_name = <["data"=2, "model"=2]>
func.func @minor(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // expected-error @+1 {{op operand sharding at index 0 must have all manual axes come before free axes in its dimension sharding at index 0. Saw manual axis "data" after free axis "model"}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"model", "data"}, {?}]>] out_shardings=[<@mesh_name, [{"data"}, {?}]>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
    sdy.return %arg1 : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh_name = <["data"=2, "model"=2]>
func.func @local(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // expected-error @+1 {{op operand shape, corresponding sharding, and region operand shape at index 0 must match. Expected local shape 'tensor<8x32xf32>', actual local shape 'tensor<16x32xf32>'}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {"model", ?}]>] out_shardings=[<@mesh_name, [{"data"}, {?}]>] manual_axes={"data"} (%arg1: tensor<16x32xf32>) {
    sdy.return %arg1 : tensor<16x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

sdy.mesh @mesh_name = <["data"=2, "model"=2]>
func.func @nested(%arg0: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // expected-note @+1 {{parent bounding this axis as manual}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh_name, [{"data"}, {}]>] out_shardings=[<@mesh_name, [{"data"}, {}]>] manual_axes={"data"} (%arg1: tensor<8x32xf32>) {
    // expected-error @+1 {{op operates on axis "data" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh_name, [{"data"}, {}]>] out_shardings=[<@mesh_name, [{"data"}, {}]>] manual_axes={"data"} (%arg2: tensor<4x32xf32>) {
      sdy.return %arg2 : tensor<4x32xf32>
    } : (tensor<8x32xf32>) -> tensor<8x32xf32>
    sdy.return %1 : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
