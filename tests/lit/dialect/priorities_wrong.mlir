// What is wrong with a file of op priorities is told with its place.
// RUN: not terrazzo opt %s --op-priorities %t.nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: echo "stablehlo.add" > %t.a && echo "  stablehlo.nonsense" >> %t.a && not terrazzo opt %s --op-priorities %t.a 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: echo "stablehlo.add:sideways" > %t.b && not terrazzo opt %s --op-priorities %t.b 2>&1 | FileCheck %s --check-prefix=DIRECTION
// RUN: echo "first: stablehlo.add" > %t.c && not terrazzo opt %s --op-priorities %t.c 2>&1 | FileCheck %s --check-prefix=NAME

// NOTHING: {{.*}}.nothing
// UNKNOWN: .a:2:3: error: there is no op 'stablehlo.nonsense'; its dialect may not be loaded
// DIRECTION: .b:1:15: error: expected forward, backward or both behind ':', found 'sideways'
// NAME: .c:1:7: error: expected forward, backward or both behind ':', found ''
