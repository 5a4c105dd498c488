// A foreign dialect in text and in bytecode, and back.
// RUN: terrazzo opt %s --load-dialect %demo_dialect > %t.once
// RUN: FileCheck %s < %t.once
// RUN: terrazzo opt %t.once --load-dialect %demo_dialect | diff %t.once -
// RUN: terrazzo opt %s --load-dialect %demo_dialect --mlir-print-op-generic | terrazzo opt --load-dialect %demo_dialect | diff %t.once -
// RUN: terrazzo opt %s --load-dialect %demo_dialect --emit-bytecode --target=native -o %t.bc
// RUN: terrazzo opt %t.bc --load-dialect %demo_dialect | diff %t.once -
// RUN: terrazzo opt %t.bc --allow-unregistered-dialect | FileCheck %s --check-prefix=UNKNOWN

// CHECK: %0 = demo.constant {a = 1 : i32} dense<1.000000e+00> : tensor<8x8xf32> -> tensor<8x8xf32>
// CHECK: %1 = demo.add %arg0, %0 : tensor<8x8xf32>
// CHECK: "demo.apply"(%1) <{in_shardings = #sdy.sharding_per_value
// UNKNOWN: "demo.constant"()
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = demo.constant {a = 1 : i32} dense<1.0> : tensor<8x8xf32> -> tensor<8x8xf32>
  %0 = demo.add %arg0, %c : tensor<8x8xf32>
  %1 = "demo.apply"(%0) <{in_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}, {}]>]>}> ({
  ^bb0(%a: tensor<8x8xf32>):
    "demo.yield"(%a) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
