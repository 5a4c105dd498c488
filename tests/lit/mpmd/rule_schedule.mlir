// Fragments in the order of a rule: what does not exist is passed over, what is used stays in front.
// RUN: mpmd_opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["c"],mesh_name="m")->FragmentInfo(origins=["no"],mesh_name="m")->FragmentInfo(origins=["a"],mesh_name="m")->FragmentInfo(origins=["d"(1)],stage=2,call_counter=1,mesh_name="m")->FragmentInfo(origins=["b"],mesh_name="m")])' | FileCheck %s
// RUN: mpmd_opt %s -mpmd-optimize-pipeline='fragment-schedule-rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["c"],mesh_name="m")->FragmentInfo(origins=["a"],mesh_name="m")])' | FileCheck %s --check-prefix=PIPE
// RUN: mpmd_opt %s -mpmd-optimize-pipeline='fragment-schedule-rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["c"],mesh_name="m")->FragmentInfo(origins=["a"],mesh_name="m")]) fragment-merge-rules=FragmentMergeRule(sources=[FragmentInfo(origins=["c"],mesh_name="m"),FragmentInfo(origins=["a"],mesh_name="m")],target=FragmentInfo(origins=["e"],mesh_name="m"))' | FileCheck %s --check-prefix=MERGE
// RUN: not mpmd_opt %s -mpmd-optimize-pipeline=pipeline-schedule=gpipe 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: {{.*}}pipeline-schedule

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// b is used by d, which cannot run first.
// CHECK-LABEL: func.func @f
// CHECK: origin=["b"]
// CHECK: origin=["c"]> (%arg0) (
// CHECK: origin=["a"]> (%arg0) (
// CHECK: origin=["d"(1)], stage=2> (%0) {call_counter = 1 : ui32} (
// CHECK: return %2, %3, %1
// PIPE: origin=["b"]
// PIPE: origin=["d"(1)]
// PIPE: origin=["c"]
// PIPE: origin=["a"]
// MERGE-NOT: control_operand
// MERGE: origin=["b"]
// MERGE: origin=["d"(1)]
// MERGE: %[[E:.*]]:2 = mpmd.fragment<mesh="m", origin=["e"]> (%arg0) (
// MERGE: return %[[E]]#1, {{.*}}, %[[E]]#0
func.func @f(%x: !m) -> (!m, !m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["a"]> (%x) (%y: tensor<8xf32>) {
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["b"]> (%x) (%y: tensor<8xf32>) {
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["d"(1)], stage=2> (%1) {call_counter = 1 : ui32} (%y: tensor<8xf32>) {
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %3 = mpmd.fragment<mesh="m", origin=["c"]> (%x) (%y: tensor<8xf32>) {
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  return %0, %2, %3 : !m, !m, !m
}
