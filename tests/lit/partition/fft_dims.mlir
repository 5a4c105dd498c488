// A transform of two dimensions that are cut is one of each dimension, which is whole then while the
// other one is cut: nothing is gathered. Of real numbers, the last dimension comes first; back to
// them, last. Where the result is whole, so is the operand.
// RUN: terrazzo opt %s -terrazzo-partition | FileCheck %s
// RUN: terrazzo verify %s | FileCheck --check-prefix=SAME %s

sdy.mesh @mesh = <["x"=4, "y"=2]>
#xy = #sdy.sharding<@mesh, [{"x"}, {"y"}]>
#xyz = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}]>

// CHECK-LABEL: func.func @main
// CHECK-NOT: all_gather
// CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [16] : (tensor<1x16xcomplex<f32>>) -> tensor<1x16xcomplex<f32>>
// CHECK-NOT: all_gather
// CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
// CHECK-NOT: all_gather
// CHECK: return
func.func @main(%a: tensor<8x16xcomplex<f32>> {sdy.sharding = #xy}) -> (tensor<8x16xcomplex<f32>> {sdy.sharding = #xy}) {
  %0 = stablehlo.fft %a, type = FFT, length = [8, 16] {sdy.sharding = #sdy.sharding_per_value<[#xy]>} : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  return %0 : tensor<8x16xcomplex<f32>>
}

// CHECK-LABEL: func.func @real
// CHECK-NOT: all_gather
// CHECK: type = RFFT, length = [14]
// CHECK: type = FFT, length = [8]
// CHECK: type = IFFT, length = [8]
// CHECK: type = IRFFT, length = [14]
// CHECK-NOT: all_gather
// CHECK: return
func.func @real(%a: tensor<3x8x14xf32> {sdy.sharding = #xyz}) -> (tensor<3x8x14xf32> {sdy.sharding = #xyz}) {
  %0 = stablehlo.fft %a, type = RFFT, length = [8, 14] {sdy.sharding = #sdy.sharding_per_value<[#xyz]>} : (tensor<3x8x14xf32>) -> tensor<3x8x8xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [8, 14] {sdy.sharding = #sdy.sharding_per_value<[#xyz]>} : (tensor<3x8x8xcomplex<f32>>) -> tensor<3x8x14xf32>
  return %1 : tensor<3x8x14xf32>
}

// A batch takes the axes, and the transform stays one.
// CHECK-LABEL: func.func @batch
// CHECK: "stablehlo.all_to_all"
// CHECK: type = FFT, length = [8, 16] : (tensor<1x8x16xcomplex<f32>>)
// CHECK: "stablehlo.all_to_all"
func.func @batch(%a: tensor<8x8x16xcomplex<f32>> {sdy.sharding = #xyz}) -> (tensor<8x8x16xcomplex<f32>> {sdy.sharding = #xyz}) {
  %0 = stablehlo.fft %a, type = FFT, length = [8, 16] {sdy.sharding = #sdy.sharding_per_value<[#xyz]>} : (tensor<8x8x16xcomplex<f32>>) -> tensor<8x8x16xcomplex<f32>>
  return %0 : tensor<8x8x16xcomplex<f32>>
}

// CHECK-LABEL: func.func @whole
// CHECK: all_gather
// CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [8, 16]
func.func @whole(%a: tensor<8x16xcomplex<f32>> {sdy.sharding = #xy}) -> tensor<8x16xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [8, 16] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
  return %0 : tensor<8x16xcomplex<f32>>
}

// SAME: the sharded program computes what the whole one does
