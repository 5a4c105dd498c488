// stablehlo.tuple: its parts.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.tuple | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = stablehlo.tuple %cst, %c : tuple<tensor<3xf32>, tensor<i32>>
// OPS: stablehlo.tuple form yes yes yes - whole vanishes
// FLAT: stablehlo.constant
// FLAT: stablehlo.constant
// FLAT-NOT: stablehlo.tuple
func.func @main() -> (tuple<tuple<tensor<3xf32>, tensor<i32>>, tensor<i32>>) {
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %n = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.tuple %y, %n : tuple<tensor<3xf32>, tensor<i32>>
  %1 = stablehlo.tuple %0, %n : tuple<tuple<tensor<3xf32>, tensor<i32>>, tensor<i32>>
  return %1 : tuple<tuple<tensor<3xf32>, tensor<i32>>, tensor<i32>>
}
