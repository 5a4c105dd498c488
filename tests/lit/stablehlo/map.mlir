// stablehlo.map: its body over whole tensors.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo ops stablehlo.map | FileCheck %s --check-prefix=OPS
// RUN: terrazzo run %s --dump flatten --output %t 2>&1 | FileCheck %s --check-prefix=FLAT

// CHECK: %0 = "stablehlo.map"(%cst) <{dimensions = array<i64: 0, 1>}> ({
// OPS: stablehlo.map generic yes yes yes extra rule whole yes
// FLAT: stablehlo.broadcast_in_dim
// FLAT: stablehlo.multiply
// FLAT: stablehlo.exponential
// FLAT-NOT: stablehlo.map
func.func @main() -> tensor<2x3xf32> {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    %c = stablehlo.constant dense<2.0> : tensor<f32>
    %m = stablehlo.multiply %a, %c : tensor<f32>
    %e = stablehlo.exponential %m : tensor<f32>
    stablehlo.return %e : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
