// A choice between a value and itself, as JAX has it before each branch of a switch that is mapped,
// is that value: what is known of it stays known.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: program
// CHECK-NOT: select
// CHECK: loop [8] in %0[1] out %2[1] {{.*}}constant 3
// CHECK-NOT: @1
func.func @main(%x: tensor<8xf32>, %p: tensor<8xi1>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<3.0> : tensor<8xf32>
  %0 = stablehlo.select %p, %c, %c : tensor<8xi1>, tensor<8xf32>
  %1 = stablehlo.select %p, %x, %x : tensor<8xi1>, tensor<8xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
