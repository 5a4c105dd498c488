// RUN: terrazzo opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect | FileCheck %s

// Two blocks that go to each other and are both entered from outside: neither dominates the other.

// CHECK: ^bb3:
// CHECK-NEXT: "a.u"(%0) : (i32) -> ()
"a.r"() ({
  %v = "a.v"() : () -> i32
  "a.br"()[^bb1, ^bb2] : () -> ()
^bb1:
  "a.br"()[^bb2, ^bb3] : () -> ()
^bb2:
  "a.br"()[^bb1, ^bb3] : () -> ()
^bb3:
  "a.u"(%v) : (i32) -> ()
  "a.end"() : () -> ()
}) : () -> ()

// -----

"a.r"() ({
  "a.br"()[^bb1, ^bb2] : () -> ()
^bb1:
  // expected-note@+1 {{operand defined here (op in the same region)}}
  %v = "a.v"() : () -> i32
  "a.br"()[^bb2, ^bb3] : () -> ()
^bb2:
  // expected-error@+1 {{operand #0 does not dominate this use}}
  "a.u"(%v) : (i32) -> ()
  "a.br"()[^bb1, ^bb3] : () -> ()
^bb3:
  "a.end"() : () -> ()
}) : () -> ()

// -----

// A block of which everything that follows knows, and one inside an op.

// CHECK: "a.u"(%0) : (i32) -> ()
"a.r"() ({
  "a.br"()[^bb1] : () -> ()
^bb1:
  %v = "a.v"() : () -> i32
  "a.br"()[^bb2, ^bb3] : () -> ()
^bb2:
  "a.br"()[^bb4] : () -> ()
^bb3:
  "a.br"()[^bb4] : () -> ()
^bb4:
  "a.n"() ({
    "a.br"()[^bb1] : () -> ()
  ^bb1:
    "a.u"(%v) : (i32) -> ()
    "a.end"() : () -> ()
  }) : () -> ()
  "a.end"() : () -> ()
}) : () -> ()
