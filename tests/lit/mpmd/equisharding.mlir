// A result that is tied to an argument is transferred to where that is.
// RUN: mpmd_opt %s -mpmd-enforce-input-output-equisharding=constraints=0:1,0:0 | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-enforce-input-output-equisharding=constraints=0:2 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not mpmd_opt %s -mpmd-enforce-input-output-equisharding=constraints=0 2>&1 | FileCheck %s --check-prefix=TEXT
// BOUNDS: error: constraint 0:2 is out of bounds
// TEXT: error: Failed to parse output index:

!on1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!on2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>

// CHECK: func.func @main(%arg0: [[T:!mpmd.mesh_tensor<"m1", tensor<8xf32>>]], %arg1: {{.*}}) -> ([[T]], [[T]])
func.func @main(%a: !on1, %b: !on2) -> (!on1, !on2) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // CHECK-NEXT: %[[V:.*]] = mpmd.transfer %arg1
  // CHECK-NEXT: return %arg0, %[[V]]
  return %a, %b : !on1, !on2
}
