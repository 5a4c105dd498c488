// Constants by reference to the blobs at the end of the file.
// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s --strict-whitespace --match-full-lines
module {
  func.func @f() -> tensor<2xf32> {
    %0 = stablehlo.constant dense_resource<blob1> : tensor<2xf32>
    %1 = stablehlo.constant dense_resource<"b 2"> : tensor<1xi8>
    return %0 : tensor<2xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      blob1: "0x040000020000803F00000040",
      "b 2": "0x0100000007",
      unused: "0x0100000007"
    }
  },
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse)",
      disable_threading: true
    }
  }
#-}

// CHECK:module {
// CHECK-NEXT:  func.func @f() -> tensor<2xf32> {
// CHECK-NEXT:    %cst = stablehlo.cons|ant dense_resource<blob1> : tensor<2xf32>
// CHECK-NEXT:    %c = stablehlo.constant dense_resource<"b 2"> : tensor<1xi8>
// CHECK-NEXT:    return %cst : tensor<2xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:}
// CHECK-EMPTY:
// CHECK-NEXT:{-#
// CHECK-NEXT:  dialect_resources: {
// CHECK-NEXT:    builtin: {
// CHECK-NEXT:      blob1: "0x040000000000803F00000040",
// CHECK-NEXT:      "b 2": "0x0100000007"
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:#-}
