// stablehlo.async_done: what async_start has run.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.async_done | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
// OPS: stablehlo.async_done generic yes yes yes - whole vanishes
// FLAT: stablehlo.slice
// FLAT-NOT: stablehlo.async_done
func.func @main() -> tensor<2xf32> {
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %f = "stablehlo.async_start"(%y) ({
  ^bb0(%a: tensor<3xf32>):
    %s = stablehlo.slice %a [1:3] : (tensor<3xf32>) -> tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }) : (tensor<3xf32>) -> !stablehlo.future<tensor<2xf32>>
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
