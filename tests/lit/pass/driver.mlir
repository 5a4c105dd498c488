// The driver's own options.
// RUN: terrazzo opt %s -canonicalize -mlir-print-ir-before=canonicalize -mlir-print-ir-after-all 2>&1 >/dev/null | FileCheck %s --check-prefix=DUMP
// RUN: terrazzo opt %s -cse -canonicalize -mlir-print-ir-after-change 2>&1 >/dev/null | FileCheck %s --check-prefix=CHANGE
// RUN: terrazzo opt %s -cse -mlir-timing 2>&1 >/dev/null | FileCheck %s --check-prefix=TIME
// RUN: terrazzo opt %s -sdy-import-pipeline -mlir-timing -mlir-timing-display=list 2>&1 >/dev/null | FileCheck %s --check-prefix=LIST
// RUN: terrazzo opt %s --pass-pipeline='builtin.module(func.func(canonicalize{max-iterations=3}),cse)' --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=PIPE
// RUN: not terrazzo opt %s --canonicalize=depth=3 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not terrazzo opt %s --canonicalize=top-down=maybe 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not terrazzo opt %s --pass-pipeline='cse,nonsense' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not terrazzo opt %s --mlir-print-op-generic=7 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: terrazzo opt --help | FileCheck %s --check-prefix=HELP
// RUN: terrazzo opt --list-passes | FileCheck %s --check-prefix=PASSES
// RUN: terrazzo opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: terrazzo opt %s --no-implicit-module | FileCheck %s --check-prefix=BARE
// RUN: terrazzo opt %s --strip-debuginfo --mlir-print-debuginfo | FileCheck %s --check-prefix=STRIP

// DUMP: IR Dump Before canonicalize
// DUMP: stablehlo.negate
// DUMP: IR Dump After canonicalize
// DUMP-NOT: stablehlo.negate
// CHANGE: IR Dump After cse
// CHANGE-NOT: IR Dump After canonicalize
// TIME: Total Execution Time
// TIME: Parser
// TIME: cse
// TIME: (100.0%) Total
// LIST: sdy-lift-inlined-meshes
// LIST-NOT: sdy-import-pipeline
// LIST: Total
// PIPE: builtin.module(func.func(canonicalize{cse-between-iterations=false    max-iterations=3
// OPTION: error: no such option depth
// KIND: error: for the --top-down option: 'maybe' is invalid value for boolean argument! Try 0 or 1
// NAME: error: 'nonsense' does not refer to a registered pass or pass pipeline
// FLAG: --mlir-print-op-generic wants true or false, not '7'
// HELP: --split-input-file[=MARKER]
// HELP: --sdy-aggressive-propagate
// HELP: Examples
// PASSES: -canonicalize
// PASSES-NEXT: top-down flag
// DIALECTS: Available Dialects: {{.*}}builtin,{{.*}}chlo,{{.*}}func,{{.*}}sdy,{{.*}}stablehlo
// BARE: {{^}}func.func @f
// STRIP: #loc = loc(unknown)
// STRIP: return loc(#loc)
func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.negate %x : tensor<f32>
  return
}
