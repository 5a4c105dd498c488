// What MLIR's printing options do.
// RUN: terrazzo opt -allow-unregistered-dialect %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=NAMED
// RUN: terrazzo opt -allow-unregistered-dialect %s --mlir-print-value-users --mlir-print-unique-ssa-ids --mlir-print-assume-verified | FileCheck %s --check-prefix=USERS
// RUN: terrazzo opt -allow-unregistered-dialect %s --mlir-print-elementsattrs-with-hex-if-larger=3 | FileCheck %s --check-prefix=HEX
// RUN: terrazzo opt -allow-unregistered-dialect %s --mlir-print-elementsattrs-with-hex-if-larger=4 --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIPPED
// RUN: terrazzo opt -allow-unregistered-dialect %s --mlir-elide-elementsattrs-if-larger=0 --mlir-elide-resource-strings-if-larger=27 | FileCheck %s --check-prefix=ELIDED
// RUN: terrazzo opt -allow-unregistered-dialect %s --mlir-elide-resource-strings-if-larger=3 | FileCheck %s --check-prefix=NONE

// NAMED: func.func @f(%in_put: tensor<2xf32>, %x.y: tensor<2xf32>, %arg2: tensor<2xi32>)
// NAMED-NEXT: %arg2_0 = stablehlo.add %in_put, %x.y
// NAMED-NEXT: %in_put_1 = stablehlo.add %in_put, %x.y
// NAMED-NEXT: %konst = stablehlo.constant
// NAMED-NEXT: %pair:2 = "t.two"(%arg2_0, %arg2_0) ({
// NAMED-NEXT: ^bb0(%in_put_3: i32, %arg4: i32):
// NAMED-NEXT: %grC3B6C39Fe2Fd = "t.q"(%in_put_3)
// NAMED-NEXT: %konst_4 = "t.q"(%in_put_3)
// NAMED: ^bb1(%block: i32):
// NAMED: %_3 = "t.q"() : () -> i32
// NAMED-NEXT: %1 = "t.q"() : () -> i32
// NAMED: %cst = stablehlo.constant
// NAMED-NEXT: %arg2_0_2 = stablehlo.constant
// NAMED-NEXT: %0:2 = stablehlo.while(%iterArg = %cst, %iterArg_3 = %arg2_0_2)
// NAMED: %iterArg_4 = stablehlo.add %iterArg, %iterArg_3

// USERS: func.func @f(
// USERS-NEXT: {{^    }}// %arg0 is used by %4, %3
// USERS-NEXT: {{^    }}// %arg1 is used by %4, %3
// USERS-NEXT: {{^    }}// %arg2 is unused
// USERS-NEXT: %3 = stablehlo.add %arg0, %arg1 : tensor<2xf32> // users: %5#0, %5#1
// USERS-NEXT: %4 = stablehlo.add %arg0, %arg1 : tensor<2xf32> // unused
// USERS: ^bb0(%arg3: i32, %arg4: i32):
// USERS-NEXT: {{^      }}// %arg3 is used by %16, %15
// USERS-NEXT: {{^      }}// %arg4 is unused
// USERS-NEXT: %15 = "t.q"(%arg3) : (i32) -> i32 // user: %17
// USERS-NEXT: %16 = "t.q"(%arg3) : (i32) -> i32 // user: %17
// USERS-NEXT: "t.b"(%15, %15, %16)[^bb1] : (i32, i32, i32) -> () // id: %17
// USERS: %6:2 = stablehlo.while(%iterArg = %cst_0, %iterArg_2 = %cst_1)
// USERS: } // user: (%7), (unused)
// USERS-NEXT: return %6#0 : tensor<2xf32> // id: %7

// HEX: e = dense<"0x01020304"> : tensor<4xi8>, f = dense<7> : tensor<9xi8>
// SKIPPED: module {...}
// ELIDED: stablehlo.constant dense_resource<__elided__> : tensor<2xf32>
// ELIDED: stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// ELIDED: d = dense_resource<__elided__> : tensor<4x!t.s>, e = dense_resource<__elided__> : tensor<4xi8>, f = dense<7> : tensor<9xi8>
// ELIDED-NOT: k1:
// ELIDED: k2: "0x0400000001000000"
// NONE: {-#
// NONE-EMPTY:
// NONE-NEXT: #-}
module {
  func.func @f(%a: tensor<2xf32> loc("in put"), %b: tensor<2xf32> loc(fused["x.y"("f.py":1:2), "2z"]), %c: tensor<2xi32>) -> tensor<2xf32> {
    %0 = stablehlo.add %a, %b : tensor<2xf32> loc("arg2")
    %1 = stablehlo.add %a, %b : tensor<2xf32> loc("in put")
    %2 = stablehlo.constant dense<[1.0,2.0]> : tensor<2xf32> loc("konst")
    %3:2 = "t.two"(%0, %0) ({
    ^bb0(%x: i32 loc("in put"), %y: i32):
      %9 = "t.q"(%x) : (i32) -> i32 loc(callsite("gr\C3\B6\C3\9Fe/d" at "u"))
      %10 = "t.q"(%x) : (i32) -> i32 loc("konst")
      "t.b"(%9, %9, %10)[^bb1] : (i32, i32, i32) -> ()
    ^bb1(%z: i32 loc("block")):
      "t.end"(%z) : (i32) -> ()
    }, {
      %9 = "t.q"() : () -> i32 loc("3")
      %10 = "t.q"() : () -> i32
    ^bb4(%w: i32):
      "t.end"() : () -> ()
    }) : (tensor<2xf32>, tensor<2xf32>) -> (i32, i32) loc("pair")
    %4 = stablehlo.constant dense<1.0> : tensor<2xf32>
    %5 = stablehlo.constant dense<2.0> : tensor<2xf32> loc("arg2_0")
    %6:2 = stablehlo.while(%i = %4, %j = %5) : tensor<2xf32>, tensor<2xf32> cond {
      %cc = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %cc : tensor<i1>
    } do {
      %c_1 = stablehlo.add %i, %j : tensor<2xf32> loc("iterArg")
      stablehlo.return %c_1, %j : tensor<2xf32>, tensor<2xf32>
    }
    return %6#0 : tensor<2xf32>
  }
  "t.res"() {a = dense_resource<k1> : tensor<2xi32>, b = dense_resource<k2> : tensor<1xi32>, d = dense<["a","b","c","d"]> : tensor<4x!t.s>, e = dense<[1,2,3,4]> : tensor<4xi8>, f = dense<7> : tensor<9xi8>} : () -> ()
}
{-#
  dialect_resources: {
    builtin: {
      k1: "0x040000000100000002000000",
      k2: "0x0400000001000000"
    }
  }
#-}
