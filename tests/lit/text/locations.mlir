// Locations and their aliases: by depth, those of arguments above the module.
// RUN: terrazzo opt -allow-unregistered-dialect -mlir-print-debuginfo %s | FileCheck %s --strict-whitespace --match-full-lines

#base = loc("args"("x.py":3:4))
module {
  func.func @f(%a: i32 loc(#base), %b: i32 loc("plain")) {
    %0 = "a.b"(%a) : (i32) -> i32 loc(#later)
    %1 = "a.b"(%0) : (i32) -> i32 loc(fused<"m">["x.py":3:4, unknown, "x.py":3:4])
    %2 = "a.b"(%1) ({
    ^bb0(%c: i32 loc("inner")):
      "a.c"() : () -> () loc(callsite("c" at "x.py":9:9))
    }) : (i32) -> i32 loc("x.py":3:4 to :8)
    return loc("x.py":3:4 to 4:8)
  } loc(unknown)
} loc(unknown)
#later = loc("later"(#base))

// CHECK:#loc1 = loc("x.py":3:4)
// CHECK-NEXT:#loc2 = loc("plain")
// CHECK-NEXT:#loc4 = loc("inner")
// CHECK-NEXT:#loc8 = loc("args"(#loc1))
// CHECK-NEXT:module {
// CHECK-NEXT:  func.func @f(%arg0: i32 loc("args"(#loc1)), %arg1: i32 loc("plain")) {
// CHECK-NEXT:    %0 = "a.b"(%arg0) : (i32) -> i32 loc(#loc11)
// CHECK-NEXT:    %1 = "a.b"(%0) : (i32) -> i32 loc(#loc9)
// CHECK-NEXT:    %2 = "a.b"(%1) ({
// CHECK-NEXT:    ^bb0(%arg2: i32 loc("inner")):
// CHECK-NEXT:      "a.c"() : () -> () loc(#loc10)
// CHECK-NEXT:    }) : (i32) -> i32 loc(#loc3)
// CHECK-NEXT:    return loc(#loc7)
// CHECK-NEXT:  } loc(#loc)
// CHECK-NEXT:} loc(#loc)
// CHECK-NEXT:#loc = loc(unknown)
// CHECK-NEXT:#loc3 = loc("x.py":3:4 to :8)
// CHECK-NEXT:#loc5 = loc("c")
// CHECK-NEXT:#loc6 = loc("x.py":9:9)
// CHECK-NEXT:#loc7 = loc("x.py":3:4 to 4:8)
// CHECK-NEXT:#loc9 = loc(fused<"m">[#loc1])
// CHECK-NEXT:#loc10 = loc(callsite(#loc5 at #loc6))
// CHECK-NEXT:#loc11 = loc("later"(#loc8))
