// stablehlo.fft: batches are cut, transformed dimensions stay whole; a step for each of these.
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo opt %s -sdy-aggressive-propagate | FileCheck %s --check-prefix=SHARD
// RUN: terrazzo opt %s -sdy-propagation-pipeline -terrazzo-partition | FileCheck %s --check-prefix=LOCAL
// RUN: not terrazzo run %s --devices 4 --dump program 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: terrazzo ops stablehlo.fft | FileCheck %s --check-prefix=OPS

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<4x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {}]>}) -> tensor<4x6x5xcomplex<f32>> {
  %0 = stablehlo.fft %arg0, type = RFFT, length = [6, 8] : (tensor<4x6x8xf32>) -> tensor<4x6x5xcomplex<f32>>
  return %0 : tensor<4x6x5xcomplex<f32>>
}

// CHECK: %0 = stablehlo.fft %arg0, type = RFFT, length = [6, 8] : (tensor<4x6x8xf32>) -> tensor<4x6x5xcomplex<f32>>
// SHARD: stablehlo.fft %arg0, {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}, {"b", ?}, {?}]>]>}
// LOCAL: %[[ALL:.*]] = "stablehlo.all_to_all"(%arg0)
// LOCAL: stablehlo.fft %[[ALL]], type = RFFT, length = [6, 8] : (tensor<1x6x8xf32>) -> tensor<1x6x5xcomplex<f32>>
// STEPS: stablehlo.fft: call fft {{.*}} params[2,6,8,1]
// STEPS: stablehlo.fft: call fft {{.*}} params[0,1,6,5]
// OPS: stablehlo.fft form yes yes yes rule partly yes
