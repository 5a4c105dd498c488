// Blocks, successors, predecessors.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace --match-full-lines

"a.f"() ({
^entry(%a: i32):
  "a.br"(%a)[^one, ^two] : (i32) -> ()
^two:
  "a.br"()[^one] : () -> ()
^one:
  "a.end"() : () -> ()
^dead(%x: i32):
  "a.end"() : () -> ()
}, {}) : () -> ()

// CHECK:module {
// CHECK-NEXT:  "a.f"() ({
// CHECK-NEXT:  ^bb0(%arg0: i32):
// CHECK-NEXT:    "a.br"(%arg0)[^bb2, ^bb1] : (i32) -> ()
// CHECK-NEXT:  ^bb1:  // pred: ^bb0
// CHECK-NEXT:    "a.br"()[^bb2] : () -> ()
// CHECK-NEXT:  ^bb2:  // 2 preds: ^bb0, ^bb1
// CHECK-NEXT:    "a.end"() : () -> ()
// CHECK-NEXT:  ^bb3(%0: i32):  // no predecessors
// CHECK-NEXT:    "a.end"() : () -> ()
// CHECK-NEXT:  }, {
// CHECK-NEXT:  }) : () -> ()
// CHECK-NEXT:}
