// terrazzo ops: what each stage has of the rows, and what they say of an op that is named.
// RUN: terrazzo ops stablehlo.add stablehlo.while sdy.mesh sdy.all_reduce | FileCheck %s
// RUN: terrazzo ops --counts | FileCheck %s --check-prefix=COUNTS
// RUN: terrazzo ops --json | FileCheck %s --check-prefix=JSON
// RUN: terrazzo ops sdy | FileCheck %s --check-prefix=DIALECT
// RUN: terrazzo ops --program | FileCheck %s --check-prefix=PROGRAM
// RUN: not terrazzo ops stablehlo.nonsense 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not terrazzo ops --nonsense 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: terrazzo ops --help | FileCheck %s --check-prefix=HELP

// CHECK: {{^}}op read verify infer portable shard partition run
// CHECK-NEXT: sdy.mesh form yes - - none needed split vanishes
// CHECK-NEXT: {{^}}    names a mesh: axes with sizes, and perhaps an order of devices (sdy_dialect.md#mesh)
// CHECK-NEXT: sdy.all_reduce form yes yes - {{.*}} replaced vanishes
// CHECK-NEXT: (sdy_dialect.md#all_reduce)
// CHECK-NEXT: stablehlo.add form yes yes yes rule split yes
// CHECK-NEXT: {{^}}    sum of elements; or, of truth values (spec.md#add)
// CHECK-NEXT: stablehlo.while form yes yes yes edges split yes
// CHECK-NEXT: (spec.md#while)
// CHECK-NOT: stablehlo

// COUNTS: dialect ops read verify infer portable shard partition run
// COUNTS: {{^}}stablehlo 118 118 
// COUNTS-COUNT-1: {{^}}arith 9 
// COUNTS-NOT: {{^}}arith
// COUNTS: {{^}}all

// JSON: {"op": "stablehlo.add", "read": "form", "verify": "yes", "infer": "yes", "portable": "yes", "shard": "rule", "partition": "split", "run": "yes", "operands": ["ranked tensor of {{.*}} values", "ranked tensor of {{.*}} values"], "results": ["ranked tensor of {{.*}} values"], "meaning": "sum of elements; or, of truth values", "section": "spec.md#add"},
// DIALECT: sdy.mesh
// DIALECT-NEXT: sdy.constant
// PROGRAM: {{^}}step loop elementwise code over an iteration space, or a reduction
// PROGRAM: {{^}}step case goes to the target that an index names, else to the last
// PROGRAM: {{^}}code add sum; of pred: or
// NONE: there is no op or dialect 'stablehlo.nonsense'
// OPTION: unknown option '--nonsense'
// HELP: usage: terrazzo ops
// HELP: examples:
// HELP-NEXT: terrazzo ops stablehlo.dot_general sdy
