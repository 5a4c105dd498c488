// Operands from memory that are one element wide along the last dim are written side by side by one
// loop; not where they are the same element again and again.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: stablehlo.concatenate: copy [300,1] %0[1,1] -> %4[2,1]
// CHECK-NEXT: stablehlo.concatenate: copy [300,1] %2[0,0] -> %4+1[2,1]
// CHECK-NEXT: stablehlo.concatenate: loop [300,1] in %0[1,1] %1[1,1] out %3[2,1] %3+1[2,1]
func.func @main(%x: tensor<300x1xf32>, %y: tensor<300x1xf32>, %z: tensor<1x1xf32>) -> (tensor<300x2xf32>, tensor<300x2xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<300x1xf32>, tensor<300x1xf32>) -> tensor<300x2xf32>
  %1 = stablehlo.broadcast_in_dim %z, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<300x1xf32>
  %2 = stablehlo.concatenate %x, %1, dim = 1 : (tensor<300x1xf32>, tensor<300x1xf32>) -> tensor<300x2xf32>
  return %0, %2 : tensor<300x2xf32>, tensor<300x2xf32>
}
