// Arguments and results go on the meshes that the options give them.
// RUN: mpmd_opt %s -mpmd-map-input-output-to-mesh='input-assignment=0@m1#device output-assignment=1@m2' | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-map-input-output-to-mesh=input-assignment=1@m1 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not mpmd_opt %s -mpmd-map-input-output-to-mesh=output-assignment=0@m3 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not mpmd_opt %s -mpmd-map-input-output-to-mesh=output-assignment=x@m1 2>&1 | FileCheck %s --check-prefix=TEXT
// BOUNDS: error: input index 1 is out of bounds
// MESH: error: mesh 'm3' is not in the topology
// TEXT: error: Failed to parse index: x

// CHECK: func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="device">) -> (tensor<8xf32>, !mpmd.mesh_tensor<"m2", tensor<8xf32>>)
func.func @main(%a: tensor<8xf32> {mhlo.memory_kind = "device"}) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK-NEXT: %[[OFF:.*]] = mpmd.unassign {origin = "user_in"} %arg0
  // CHECK-NEXT: %[[ON:.*]] = mpmd.assign {origin = "user_out"} %[[OFF]]
  // CHECK-NEXT: return %[[OFF]], %[[ON]]
  return %a, %a : tensor<8xf32>, tensor<8xf32>
}

// CHECK: func.func private @inner(%arg0: tensor<8xf32>) -> tensor<8xf32>
func.func private @inner(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  return %a : tensor<8xf32>
}
