// Rules need one fragment of a name.
// RUN: mpmd_opt %s -mpmd-rule-based-schedule -verify-diagnostics

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// expected-error @+1 {{Fragment info FragmentInfo(origins=["a","b"(1)],call_counter=4,mesh_name="m") already exists for another fragment}}
func.func @f(%x: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["b"(1), "a"]> (%x) {call_counter = 4 : ui32} (%y: tensor<8xf32>) {
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["a", "b"(1)]> (%x) {call_counter = 4 : ui32} (%y: tensor<8xf32>) {
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  return %0, %1 : !m, !m
}
