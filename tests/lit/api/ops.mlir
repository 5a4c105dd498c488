// terrazzo ops: what each stage has of the rows.
// RUN: terrazzo ops stablehlo.add stablehlo.while sdy.mesh sdy.all_reduce | FileCheck %s
// RUN: terrazzo ops --counts | FileCheck %s --check-prefix=COUNTS
// RUN: terrazzo ops --json | FileCheck %s --check-prefix=JSON
// RUN: not terrazzo ops stablehlo.nonsense 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not terrazzo ops --nonsense 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: terrazzo ops --help | FileCheck %s --check-prefix=HELP

// CHECK: {{^}}op read verify infer portable shard partition run
// CHECK-NEXT: sdy.mesh form yes - - none needed split vanishes
// CHECK-NEXT: sdy.all_reduce form yes yes - {{.*}} replaced vanishes
// CHECK-NEXT: stablehlo.add form yes yes yes rule split yes
// CHECK-NEXT: stablehlo.while form yes yes yes edges split yes
// CHECK-NOT: stablehlo

// COUNTS: dialect ops read verify infer portable shard partition run
// COUNTS: {{^}}stablehlo 118 118 
// COUNTS-COUNT-1: {{^}}arith 9 
// COUNTS-NOT: {{^}}arith
// COUNTS: {{^}}all

// JSON: {"op": "stablehlo.add", "read": "form", "verify": "yes", "infer": "yes", "portable": "yes", "shard": "rule", "partition": "split", "run": "yes"},
// NONE: there is no op or dialect 'stablehlo.nonsense'
// OPTION: unknown option '--nonsense'
// HELP: usage: terrazzo ops
// HELP: examples:
// HELP-NEXT: terrazzo ops stablehlo.dot_general sdy
