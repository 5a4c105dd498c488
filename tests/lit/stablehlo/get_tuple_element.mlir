// stablehlo.get_tuple_element: an operand of the tuple.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.get_tuple_element | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<3xf32>
// OPS: stablehlo.get_tuple_element form yes yes yes none needed whole vanishes
// FLAT: stablehlo.abs
// FLAT-NOT: stablehlo.get_tuple_element
func.func @main() -> tensor<3xf32> {
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %n = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.tuple %y, %n : tuple<tensor<3xf32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3xf32>, tensor<i32>>) -> tensor<3xf32>
  %2 = stablehlo.abs %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}
