// Fragments are merged as rules say, in an order that their operands allow.
// RUN: mpmd_opt %s -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"(1)],stage=1,mesh_name="m"),FragmentInfo(origins=["g"],call_counter=2,split_type=kDropTransferred,mesh_name="m")],target=FragmentInfo(origins=["h"],stage=3,call_counter=4,mesh_name="m"))' | FileCheck %s
// RUN: not mpmd_opt %s -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"],mesh_name="m"),FragmentInfo(origins=["f"],mesh_name="m")],target=FragmentInfo(origins=[],mesh_name="m"))' 2>&1 | FileCheck --check-prefix=TWICE %s
// RUN: not mpmd_opt %s -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"],stage=x)])' 2>&1 | FileCheck --check-prefix=STAGE %s
// RUN: not mpmd_opt %s -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"],stage=1,stage=2)])' 2>&1 | FileCheck --check-prefix=STAGES %s
// RUN: not mpmd_opt %s -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"],split_type=kBoth)])' 2>&1 | FileCheck --check-prefix=SPLIT %s
// RUN: not mpmd_opt %s -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"])]' 2>&1 | FileCheck --check-prefix=TARGET %s

// TWICE: error: Fragment FragmentInfo(origins=["f"],mesh_name="m") is already part of another merge rule.
// STAGE: error: for the --rules option: Expected an integer value for 'stage'
// STAGES: error: for the --rules option: 'stage' specified more than once
// SPLIT: error: for the --rules option: Expected 'kKeepTransferred' or 'kDropTransferred' for 'split_type'
// TARGET: error: for the --rules option: Expected ',' or '],target='

!m = !mpmd.mesh_tensor<"m", tensor<8xf32>>

// The one in between uses the first of the two, and comes behind both.
// CHECK-LABEL: func.func @between
// CHECK-NEXT: %0:2 = mpmd.fragment<mesh="m", origin=["h"], stage=3> (%arg0, %arg1) {call_counter = 4 : ui32} (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
// CHECK-NEXT:   stablehlo.negate %arg2
// CHECK-NEXT:   stablehlo.sine %arg3
// CHECK-NEXT:   mpmd.return
// CHECK-NEXT: }
// CHECK-NEXT: %1 = mpmd.fragment<mesh="m", origin=["k"]> (%0#0)
// CHECK: return %1, %0#1
func.func @between(%a: !m, %b: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m", origin=["f"(1)], stage=1> (%a) (%x: tensor<8xf32>) {
    %y = stablehlo.negate %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["k"]> (%0) (%x: tensor<8xf32>) {
    mpmd.return %x : tensor<8xf32>
  } : (!m) -> !m
  %2 = mpmd.fragment<mesh="m", origin=["g"]> (%b) {call_counter = 2 : ui32, split_drop_transferred} (%x: tensor<8xf32>) {
    %y = stablehlo.sine %x : tensor<8xf32>
    mpmd.return %y : tensor<8xf32>
  } : (!m) -> !m
  return %1, %2 : !m, !m
}
