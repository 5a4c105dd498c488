// chlo.mulhi
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops chlo.mulhi | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump program --output %t 2>&1 | FileCheck %s --check-prefix=STEPS

// CHECK: %0 = chlo.mulhi %c, %c_0 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
// CHECK: %1 = chlo.mulhi %c_1, %c_1 : tensor<2xi4>, tensor<2xi4> -> tensor<2xi4>
// OPS: chlo.mulhi form yes yes - extra rule split yes
// STEPS: chlo.mulhi: loop [4] {{.*}}i32=mulhi
// STEPS: chlo.mulhi: loop [2] {{.*}}i8=shr_arith {{.*}}i4=convert
func.func @main() -> (tensor<4xi32>, tensor<2xi4>) {
  %x = stablehlo.constant dense<[1, -1, 2147483647, -2147483648]> : tensor<4xi32>
  %y = stablehlo.constant dense<[1, 1, 2147483647, -2147483648]> : tensor<4xi32>
  %z = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %0 = chlo.mulhi %x, %y : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %1 = chlo.mulhi %z, %z : tensor<2xi4>, tensor<2xi4> -> tensor<2xi4>
  return %0, %1 : tensor<4xi32>, tensor<2xi4>
}
