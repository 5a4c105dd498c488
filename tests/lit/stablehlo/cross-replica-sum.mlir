// stablehlo.cross-replica-sum: all_reduce with a sum.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.cross-replica-sum | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = "stablehlo.cross-replica-sum"(%cst) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
// OPS: stablehlo.cross-replica-sum generic yes - yes rule split yes
// FLAT: stablehlo.all_reduce
// FLAT: stablehlo.add
// FLAT-NOT: stablehlo.cross-replica-sum
func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
