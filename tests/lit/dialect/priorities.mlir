// Op priorities that the user gives: in which order ops propagate decides a conflict.
// RUN: echo "demo.matmul # first" > %t.matmul && terrazzo opt %s --load-dialect %demo_dialect --op-priorities %t.matmul --sdy-propagation-pipeline | FileCheck %s --check-prefixes=CHECK,MATMUL
// RUN: echo "elementwise" > %t.ew && terrazzo opt %s --load-dialect %demo_dialect --op-priorities %t.ew --sdy-propagation-pipeline | FileCheck %s --check-prefixes=CHECK,EW
// RUN: echo "demo.*:backward" > %t.back && terrazzo opt %s --load-dialect %demo_dialect --op-priorities=%t.back --sdy-propagation-pipeline | FileCheck %s --check-prefixes=CHECK,BACK
// RUN: terrazzo opt %s --load-dialect %demo_dialect --sdy-propagation-pipeline | FileCheck %s --check-prefixes=CHECK,EW

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The product's result gets "x" from its operand, or from the sum that uses it.
// CHECK-LABEL: @main
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  // MATMUL: demo.matmul {{.*}}<[<@mesh, [{"x"}, {}]>]>
  // EW: demo.matmul {{.*}}<[<@mesh, [{}, {"x"}]>]>
  // BACK: demo.matmul {{.*}}sdy.sharding
  %0 = demo.matmul %arg0, %arg1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = demo.add %0, %arg2 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
