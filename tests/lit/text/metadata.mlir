// What tools leave at the end of a file, and locations without a column.
// RUN: terrazzo opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK: func.func private @line(i32) loc("f":7:0)
func.func private @line(i32) loc("f":7)
// CHECK: @columns() loc("f":1:2 to :4)
func.func private @columns() loc("f":1:2 to :4)

// CHECK-NOT: external_resources
{-#
  external_resources: {
    some_tool: {
      seed: 1,
      "version of it": "3",
      verify: true,
      kind: i32
    }
  }
#-}
