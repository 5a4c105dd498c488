// A product starts from one, whatever the element type, and then its parts combine.
// RUN: terrazzo opt %s -terrazzo-insert-reshards | FileCheck %s

sdy.mesh @mesh = <["x"=4]>
// CHECK-LABEL: func.func public @small
func.func public @small(%arg0: tensor<8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg2: tensor<8xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg3: tensor<8xi4> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<bf16>, tensor<f16>, tensor<f8E4M3FN>, tensor<i4>) {
  %b = stablehlo.constant dense<1.0> : tensor<bf16>
  // CHECK: %[[B:.*]] = stablehlo.reduce(%arg0
  // CHECK-NEXT: sdy.all_reduce mul {"x"} %[[B]]
  %0 = stablehlo.reduce(%arg0 init: %b) applies stablehlo.multiply across dimensions = [0] : (tensor<8xbf16>, tensor<bf16>) -> tensor<bf16>
  %h = stablehlo.constant dense<1.0> : tensor<f16>
  // CHECK: %[[H:.*]] = stablehlo.reduce(%arg1
  // CHECK-NEXT: sdy.all_reduce mul {"x"} %[[H]]
  %1 = stablehlo.reduce(%arg1 init: %h) applies stablehlo.multiply across dimensions = [0] : (tensor<8xf16>, tensor<f16>) -> tensor<f16>
  %e = stablehlo.constant dense<1.0> : tensor<f8E4M3FN>
  // CHECK: %[[E:.*]] = stablehlo.reduce(%arg2
  // CHECK-NEXT: sdy.all_reduce mul {"x"} %[[E]]
  %2 = stablehlo.reduce(%arg2 init: %e) applies stablehlo.multiply across dimensions = [0] : (tensor<8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
  %i = stablehlo.constant dense<1> : tensor<i4>
  // CHECK: %[[I:.*]] = stablehlo.reduce(%arg3
  // CHECK-NEXT: sdy.all_reduce mul {"x"} %[[I]]
  %3 = stablehlo.reduce(%arg3 init: %i) applies stablehlo.multiply across dimensions = [0] : (tensor<8xi4>, tensor<i4>) -> tensor<i4>
  return %0, %1, %2, %3 : tensor<bf16>, tensor<f16>, tensor<f8E4M3FN>, tensor<i4>
}

// CHECK-LABEL: func.func public @complex
func.func public @complex(%arg0: tensor<8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<complex<f32>>, tensor<complex<f32>>, tensor<complex<f32>>) {
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %i = stablehlo.constant dense<(1.0, 1.0)> : tensor<complex<f32>>
  %zero = stablehlo.constant dense<(0.0, -0.0)> : tensor<complex<f32>>
  // CHECK: %[[P:.*]] = stablehlo.reduce(%arg0
  // CHECK-NEXT: sdy.all_reduce mul {"x"} %[[P]]
  %0 = stablehlo.reduce(%arg0 init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  // CHECK: %[[W:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK-NEXT: stablehlo.reduce(%[[W]]
  %1 = stablehlo.reduce(%arg0 init: %i) applies stablehlo.multiply across dimensions = [0] : (tensor<8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  // CHECK: %[[S:.*]] = stablehlo.reduce(%arg0
  // CHECK-NEXT: sdy.all_reduce {"x"} %[[S]]
  %2 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0, %1, %2 : tensor<complex<f32>>, tensor<complex<f32>>, tensor<complex<f32>>
}
