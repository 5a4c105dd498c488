// Fragments of a mesh in the order of a schedule; what they use stays in front of them.
// RUN: mpmd_opt %s -mpmd-pipeline-scheduler | FileCheck %s --check-prefix=ONE
// RUN: mpmd_opt %s -mpmd-pipeline-scheduler=must-happen-before=gpipe | FileCheck %s --check-prefix=GPIPE
// RUN: mpmd_opt %s -mpmd-pipeline-scheduler=must-happen-before=none | FileCheck %s --check-prefix=NONE
// RUN: mpmd_opt %s -mpmd-pipeline-scheduler=must-happen-before=ZeroBubbleH1 | FileCheck %s --check-prefix=ZERO
// RUN: mpmd_opt %s -mpmd-pipeline-scheduler=must-happen-before=Circular | FileCheck %s --check-prefix=ROUND
// RUN: mpmd_opt %s -mpmd-pipeline-scheduler=must-happen-before=CircularWithReversedBackward | FileCheck %s --check-prefix=BACK
// RUN: not mpmd_opt %s -mpmd-pipeline-scheduler=must-happen-before=zigzag 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not mpmd_opt %s -mpmd-pipeline-scheduler=remove-control-dependencies=false 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not mpmd_opt %s -mpmd-pipeline-scheduler=must-happen-before=ParallelPipelinesWithWrapAround 2>&1 | FileCheck %s --check-prefix=WRAP
// BAD: error: unknown PropagationSchedule: zigzag
// KEPT: error: {{.*}}number of block arguments must match the number of operands
// WRAP: error: 'mpmd.fragment' op is on a mesh whose name does not end in its number

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// The last mesh is that of a CPU, so m is the only one of the pipeline.
#t = #mpmd.topology<<"m": <["x"=2]>>, <"c/cpu": <["x"=2]>>>

// ONE-LABEL: func.func @calls
// ONE: origin=["f"]> (%arg0) {call_counter = 0
// ONE: origin=["b"(1)]> (%0) {call_counter = 0
// ONE: origin=["f"]> (%arg0) {call_counter = 1
// ONE: origin=["b"(1)]> (%2) {call_counter = 1
// ONE: return %3, %1
// GPIPE-LABEL: func.func @calls
// GPIPE: origin=["f"]> (%arg0) {call_counter = 0
// GPIPE: origin=["f"]> (%arg0) {call_counter = 1
// GPIPE: origin=["b"(1)]> (%0) {call_counter = 0
// GPIPE: origin=["b"(1)]> (%1) {call_counter = 1
// GPIPE: return %3, %2
// NONE-LABEL: func.func @calls
// NONE: origin=["f"]> (%arg0) {call_counter = 1
// NONE: origin=["b"(1)]> (%0) {call_counter = 1
// NONE: origin=["f"]> (%arg0) {call_counter = 0
// NONE: origin=["b"(1)]> (%2) {call_counter = 0
func.func @calls(%a: !m) -> (!m, !m) attributes {topology = #t} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["b"(1)]> (%0) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %3 = mpmd.fragment<mesh="m", origin=["b"(1)]> (%2) {call_counter = 0 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %1, %3 : !m, !m
}

// What is not transferred waits until the next call has come in.
// ZERO-LABEL: func.func @split
// ZERO: origin=["b"(1)]> (%arg0) {call_counter = 0
// ZERO: origin=["w"(1)]> (%arg0) {call_counter = 0
// ZERO: origin=["f"]> (%arg0) {call_counter = 1
func.func @split(%a: !m) -> (!m, !m, !m) attributes {topology = #t} {
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["w"(1)]> (%a) {call_counter = 0 : ui32, split_drop_transferred} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["b"(1)]> (%a) {call_counter = 0 : ui32, split_keep_transferred} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %0, %1, %2 : !m, !m, !m
}

!n = !mpmd.mesh_tensor<"n", tensor<8xf32>>

// Two calls go through stage 1, then through stage 3, and back.
// ROUND-LABEL: func.func @stages
// ROUND: stage=1> (%arg0) {call_counter = 0
// ROUND: stage=1> (%arg0) {call_counter = 1
// ROUND: stage=3> (%arg0) {call_counter = 0
// ROUND: stage=3> (%arg0) {call_counter = 2
// ROUND: origin=["b"(1)], stage=3> (%arg0) {call_counter = 0
// ROUND: origin=["b"(1)], stage=1> (%arg0) {call_counter = 1
// BACK-LABEL: func.func @stages
// BACK: stage=3> (%arg0) {call_counter = 2
// BACK: origin=["b"(1)], stage=3> (%arg0) {call_counter = 0
// BACK: origin=["b"(1)], stage=1> (%arg0) {call_counter = 1
func.func @stages(%a: !m) -> (!m, !m, !m, !m, !m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["b"(1)], stage=1> (%a) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["b"(1)], stage=3> (%a) {call_counter = 0 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["f"], stage=3> (%a) {call_counter = 2 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %3 = mpmd.fragment<mesh="m", origin=["f"], stage=3> (%a) {call_counter = 0 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %4 = mpmd.fragment<mesh="m", origin=["f"], stage=1> (%a) {call_counter = 1 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %5 = mpmd.fragment<mesh="m", origin=["f"], stage=1> (%a) {call_counter = 0 : ui32} (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  return %0, %1, %2, %3, %4, %5 : !m, !m, !m, !m, !m, !m
}
