// Where the output goes, and what happens where it cannot.
// RUN: not terrazzo opt %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not terrazzo opt --emit-bytecode %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not terrazzo opt %s 2>&1 >/dev/full | FileCheck %s --check-prefix=STDOUT
// RUN: not terrazzo opt %s -o %t.none/file 2>&1 | FileCheck %s --check-prefix=NONE
// What is read may be written over.
// RUN: terrazzo opt --emit-bytecode %s -o %t && terrazzo opt %t -o %t && terrazzo opt %t | FileCheck %s

// FULL: terrazzo: -o: cannot write /dev/full
// FULL-NOT: terrazzo
// STDOUT: terrazzo: cannot write to standard output
// NONE: terrazzo: -o: cannot write {{.*}}.none/file
// CHECK: func.func @main
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
