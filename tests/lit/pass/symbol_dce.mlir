// RUN: not terrazzo opt %s -symbol-dce -split-input-file -allow-unregistered-dialect 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR --input-file=%t.err
// RUN: not terrazzo opt %s --pass-pipeline='builtin.module(func.func(symbol-dce))' -split-input-file -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=FUNC
// RUN: terrazzo opt %s --pass-pipeline='builtin.module(builtin.module(symbol-dce))' -split-input-file -allow-unregistered-dialect | FileCheck %s --check-prefix=INNER

// FUNC: error: 'func.func' op  was scheduled to run under SymbolDCE, but does not define a symbol table

// What is not public in the outermost module can be seen by nobody else.
// CHECK-NOT: @unused
// CHECK:     func.func @main
// CHECK:     func.func nested @called
// CHECK-NOT: @unseen
func.func private @unused() {
  call @called() : () -> ()
  return
}
func.func @main() {
  call @called() : () -> ()
  return
}
func.func nested @called() {
  return
}
func.func nested @unseen() {
  return
}

// -----

// Names mean symbols of the module around; a path goes into others, but not to what is private.
// CHECK-LABEL: module @inner
// CHECK-NEXT:    func.func nested @by_path
// CHECK-NEXT:      "test.use"() {symbol = @helper}
// CHECK:         func.func private @helper
// CHECK-NOT:     func.func
// CHECK:       "test.use"
// CHECK-NOT:   @helper()
// INNER:       module @inner
// INNER:         func.func nested @by_path
// INNER:         func.func private @helper
// INNER:         func.func nested @other
// INNER-NOT:     @hidden()
// INNER:       func.func private @helper
module @inner {
  func.func nested @by_path() {
    "test.use"() {symbol = @helper} : () -> ()
    return
  }
  func.func private @helper() {
    return
  }
  func.func nested @other() {
    return
  }
  func.func private @hidden() {
    return
  }
}
"test.use"() {symbols = [@inner::@by_path, @inner::@hidden]} : () -> ()
func.func private @helper() {
  return
}

// -----

// An op of an unknown dialect with a region may be a symbol table.
// ERROR: :[[# @LINE+1]]:1: error: operation contains potentially unknown symbol table, meaning that we can't reliable compute symbol uses
"test.region"() ({
  "test.end"() : () -> ()
}) : () -> ()
