// A stage is one fragment, and each mesh has a unit forward and one backward for each microbatch.
// RUN: mpmd_opt %s -mpmd-verify-stage-merging -mpmd-scheduling-units-verifier -split-input-file -verify-diagnostics

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

func.func @stages(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"], stage=1> (%a) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["f"], stage=1> (%0) {call_counter = 1 : ui32, remat} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["f"], stage=1> (%1) {call_counter = 2 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  // expected-error@+1 {{[mesh=m, stage_id=1, transpose_count=0, call_count=-1, split_type=nullopt, is_remat=0] for current fragment with origin: [#mpmd.user_origin<"g">]}}
  %3 = mpmd.fragment<mesh="m", origin=["g"], stage=1> (%2) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %3 : !m
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// expected-warning@+1 {{Number of backward scheduling units in mesh m does not match expected number for 1 microbatches. Got 0.}}
func.func @units(%a: !m) -> !m attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"m/cpu": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %0 : !m
}
