// Parts with zeros around them that are added up and lie side by side are put together, and a sum
// along another dimension is one of each. What lies apart, or has -0 around it, is added as it is.
// RUN: terrazzo run %s
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s

// CHECK: @0 stablehlo.concatenate: loop [2,3,1] in %{{.*}} out %{{.*}}[9,3,1] %{{.*}}[9,3,1] %{{.*}}[9,3,1] {
// CHECK-NEXT: @1 stablehlo.bitcast_convert
// CHECK-NEXT: custom_call
// CHECK-COUNT-2: stablehlo.reduce: loop [3,1,2]
// CHECK-NEXT: concatenate
// CHECK-NEXT: bitcast_convert
// CHECK-NEXT: custom_call
// CHECK: stablehlo.pad
func.func @main() {
  %x = stablehlo.constant dense<[[[1.0], [-0.0], [2.0]], [[5.0], [-0.0], [-3.0]]]> : tensor<2x3x1xf32>
  %y = stablehlo.constant dense<[[[3.0], [4.0], [-0.0]], [[1.0], [1.0], [-0.0]]]> : tensor<2x3x1xf32>
  %a, %b = stablehlo.optimization_barrier %x, %y : tensor<2x3x1xf32>, tensor<2x3x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.constant dense<-0.0> : tensor<f32>
  %p = stablehlo.pad %a, %zero, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x3xf32>
  %q = stablehlo.pad %b, %zero, low = [0, 0, 0], high = [0, 0, 2], interior = [0, 0, 0] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x3xf32>
  %pq = stablehlo.add %p, %q : tensor<2x3x3xf32>
  %r = stablehlo.pad %b, %zero, low = [0, 0, 2], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x3xf32>
  %all = stablehlo.add %pq, %r : tensor<2x3x3xf32>
  %bits = stablehlo.bitcast_convert %all : (tensor<2x3x3xf32>) -> tensor<2x3x3xui32>
  check.expect_eq_const %bits, dense<[[[0x40400000, 0x3f800000, 0x40400000], [0x40800000, 0, 0x40800000], [0, 0x40000000, 0]], [[0x3f800000, 0x40a00000, 0x3f800000], [0x3f800000, 0, 0x3f800000], [0, 0xc0400000, 0]]]> : tensor<2x3x3xui32>
  %p2 = stablehlo.pad %a, %zero, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x2xf32>
  %q2 = stablehlo.pad %b, %zero, low = [0, 0, 0], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x2xf32>
  %both = stablehlo.add %p2, %q2 : tensor<2x3x2xf32>
  %sum = stablehlo.reduce(%both init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %sum_bits = stablehlo.bitcast_convert %sum : (tensor<3x2xf32>) -> tensor<3x2xui32>
  check.expect_eq_const %sum_bits, dense<[[0x40800000, 0x40c00000], [0x40a00000, 0], [0, 0xbf800000]]> : tensor<3x2xui32>
  %p3 = stablehlo.pad %a, %minus, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x2xf32>
  %q3 = stablehlo.pad %b, %minus, low = [0, 0, 0], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x2xf32>
  %kept = stablehlo.add %p3, %q3 : tensor<2x3x2xf32>
  %kept_bits = stablehlo.bitcast_convert %kept : (tensor<2x3x2xf32>) -> tensor<2x3x2xui32>
  check.expect_eq_const %kept_bits, dense<[[[0x40400000, 0x3f800000], [0x40800000, 0x80000000], [0x80000000, 0x40000000]], [[0x3f800000, 0x40a00000], [0x3f800000, 0x80000000], [0x80000000, 0xc0400000]]]> : tensor<2x3x2xui32>
  // in a wider type
  %az = stablehlo.constant dense<0.0> : tensor<f16>
  %ha = stablehlo.convert %a : (tensor<2x3x1xf32>) -> tensor<2x3x1xf16>
  %p4 = stablehlo.pad %ha, %az, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x3x1xf16>, tensor<f16>) -> tensor<2x3x2xf16>
  %q4 = stablehlo.pad %ha, %az, low = [0, 0, 0], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<2x3x1xf16>, tensor<f16>) -> tensor<2x3x2xf16>
  %half = stablehlo.add %p4, %q4 : tensor<2x3x2xf16>
  %wide = "stablehlo.reduce"(%half, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<f32>):
    %s = stablehlo.add %x0, %x1 : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3x2xf16>, tensor<f32>) -> tensor<3x2xf32>
  check.expect_eq_const %wide, dense<[[6.0, 6.0], [0.0, 0.0], [-1.0, -1.0]]> : tensor<3x2xf32>
  return
}
