// RUN: terrazzo opt -allow-unregistered-dialect %s | FileCheck %s

// Comments among elements, with what would be brackets and quotes.
// CHECK: "t.comments"() {a = dense<[1, 2]> : tensor<2xi32>, b = sparse<0, 3> : tensor<2xi32>}
"t.comments"() {a = dense<// {
  [1, // "
   2 /// ]>
  ]> : tensor<2xi32>, b = sparse<0, // (
  3> : tensor<2xi32>} : () -> ()
