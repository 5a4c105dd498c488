// chlo.constant: stablehlo.constant.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo.constant | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = chlo.constant dense<[1, 2]> : tensor<2xi32>
// OPS: chlo.constant form yes yes - - whole yes
// FLAT: stablehlo.constant
// FLAT-NOT: chlo.constant
func.func @main() -> tensor<2xi32> {
  %0 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
