// What a step of strips reads may lie in the memory of a result that the step writes: which one that
// is, is looked up among the program's results, not among what the strips touch.
// RUN: terrazzo run %s --random-input --stats 2>&1 | FileCheck %s
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s --check-prefix=PROGRAM

// CHECK-NOT: ERROR
// CHECK: devices 1, steps 2
// PROGRAM: work at 0 of result 1
// PROGRAM: strips [64]
func.func @main(%x: tensor<64x8192xf32>,
    %a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<f32>, %a3: tensor<f32>, %a4: tensor<f32>,
    %a5: tensor<f32>, %a6: tensor<f32>, %a7: tensor<f32>, %a8: tensor<f32>, %a9: tensor<f32>,
    %a10: tensor<f32>, %a11: tensor<f32>, %a12: tensor<f32>, %a13: tensor<f32>, %a14: tensor<f32>,
    %a15: tensor<f32>, %a16: tensor<f32>, %a17: tensor<f32>, %a18: tensor<f32>, %a19: tensor<f32>,
    %a20: tensor<f32>, %a21: tensor<f32>, %a22: tensor<f32>, %a23: tensor<f32>, %a24: tensor<f32>,
    %a25: tensor<f32>, %a26: tensor<f32>, %a27: tensor<f32>, %a28: tensor<f32>, %a29: tensor<f32>,
    %a30: tensor<f32>, %a31: tensor<f32>, %a32: tensor<f32>, %a33: tensor<f32>, %a34: tensor<f32>,
    %a35: tensor<f32>, %a36: tensor<f32>, %a37: tensor<f32>, %a38: tensor<f32>, %a39: tensor<f32>) -> (tensor<64x8192xf32>, tensor<64x8192xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }) : (tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %m = stablehlo.reduce(%w init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x8192xf32>, tensor<f32>) -> tensor<64xf32>
  %mm = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x8192xf32>
  %d = stablehlo.subtract %w, %mm : tensor<64x8192xf32>
  %e = stablehlo.exponential %d : tensor<64x8192xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x8192xf32>, tensor<f32>) -> tensor<64xf32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x8192xf32>
  %o = stablehlo.add %w, %ss : tensor<64x8192xf32>
  %o2 = stablehlo.multiply %e, %ss : tensor<64x8192xf32>
  %r = stablehlo.subtract %o2, %w : tensor<64x8192xf32>
  return %o, %r : tensor<64x8192xf32>, tensor<64x8192xf32>
}
