// What --load-dialect says where there is nothing to load.
// RUN: not terrazzo opt %s --load-dialect %t.nothing.so 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not terrazzo opt %s --load-dialect %s 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not terrazzo opt %s --load-dialect %old_dialect 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not terrazzo opt %s --load-dialect=%demo_dialect --load-dialect=%demo_dialect 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not terrazzo opt %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not terrazzo opt %s --load-dialect 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: terrazzo opt %s --load-dialect=%demo_dialect --load-dialect=%broken_dialect | FileCheck %s
// RUN: sdy_opt %s --load-dialect=%demo_dialect --load-dialect=%broken_dialect | FileCheck %s

// NOTHING: error: --load-dialect: cannot load dialect '{{.*}}nothing.so': {{.*}}No such file
// TEXT: error: --load-dialect: cannot load dialect '{{.*}}load.mlir': {{.*}}invalid ELF header
// OLD: error: --load-dialect: dialect '{{.*}}old.so' was built for version 4 of terrazzo/dialect.h; this is version 3
// TWICE: error: --load-dialect: dialect '{{.*}}demo.so': there is an op 'demo.constant' already
// NONE: load.mlir:[[#@LINE+5]]:6: error: Dialect `demo' not found for custom op 'demo.iota'
// VALUE: --load-dialect wants a value

// CHECK: demo.iota : tensor<4xf32>
// CHECK: "broken.verify"() : () -> ()
%0 = demo.iota : tensor<4xf32>
"broken.verify"() : () -> ()
