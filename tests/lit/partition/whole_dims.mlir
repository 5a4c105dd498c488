// Dimensions that an op must see whole are replicated; their axes move to a batching dimension.
// RUN: terrazzo opt %s -terrazzo-insert-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.fft %arg0, type = FFT, length = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  return %0 : tensor<8x8xcomplex<f32>>
}

// CHECK: func.func @main
// CHECK-NEXT:   %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xcomplex<f32>>
// CHECK-NEXT:   %1 = stablehlo.fft %0, type = FFT, length = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
// CHECK-NEXT:   %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]> : tensor<8x8xcomplex<f32>>
// CHECK-NEXT:   return %2 : tensor<8x8xcomplex<f32>>
