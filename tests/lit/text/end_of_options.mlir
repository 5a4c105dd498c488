// RUN: terrazzo opt %s -- | FileCheck %s
// RUN: terrazzo opt -- %s | FileCheck %s

// CHECK-LABEL: func @f
func.func @f() {
  return
}
