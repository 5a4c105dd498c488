// What JAX writes as custom calls where sizes are operands, and composites of open shapes.
// RUN: stablehlo-translate --interpret --args='[dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>, dense<[1, 2]> : tensor<2xui64>]' %s | FileCheck %s
// RUN: not stablehlo-translate --interpret --args='[dense<1.0> : tensor<1x2xf32>, dense<[1, 2]> : tensor<2xui64>]' %s 2>&1 | FileCheck %s --check-prefix=K

// A sum of all above, the two greatest of each row, bits, the same bits twice as wide, and twice.
// CHECK: tensor<3x2xf32> {
// CHECK: [1.000000e+00, 2.000000e+00],
// CHECK: [4.000000e+00, 6.000000e+00],
// CHECK: [9.000000e+00, 1.200000e+01]
// CHECK: tensor<2x2xf32> {
// CHECK: [5.000000e+00, 3.000000e+00],
// CHECK: [6.000000e+00, 4.000000e+00]
// CHECK: tensor<2x2xi32> {
// CHECK: [2, 1],
// CHECK: [2, 1]
// CHECK: tensor<3x2xui32> {
// CHECK: tensor<3x2x2xui16> {
// CHECK: tensor<3x2xf32> {
// CHECK: [2.000000e+00, 4.000000e+00],
// CHECK: tensor<3x2xf32> {
// K: calls.mlir:{{.*}}: error: operand's last dimension must be at least 2
func.func @main(%a: tensor<?x2xf32>, %key: tensor<2xui64>) -> (tensor<?x2xf32>, tensor<2x?xf32>, tensor<2x?xi32>, tensor<?x?xui32>, tensor<?x?x2xui16>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<1x2xi32>
  %z1 = stablehlo.constant dense<0> : tensor<1x1xi32>
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %window = stablehlo.concatenate %rows, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %less = stablehlo.subtract %rows, %one : tensor<1xi32>
  %low = stablehlo.reshape %less : (tensor<1xi32>) -> tensor<1x1xi32>
  %first = stablehlo.concatenate %low, %z1, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %padding = stablehlo.concatenate %first, %none, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
  %sums = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%a, %zero, %window, %ones, %ones, %ones, %padding) {api_version = 2 : i32, called_computations = [@sum]} : (tensor<?x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x2xf32>

  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<?x2xf32>) -> tensor<2x?xf32>
  %k = stablehlo.constant dense<2> : tensor<i32>
  %top:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%t, %k) {api_version = 2 : i32} : (tensor<2x?xf32>, tensor<i32>) -> (tensor<2x?xf32>, tensor<2x?xi32>)

  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %bits:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%key, %shape) {api_version = 2 : i32, rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<?x?xui32>)
  %halves = stablehlo.bitcast_convert %bits#1 : (tensor<?x?xui32>) -> tensor<?x?x2xui16>

  %twice = stablehlo.composite "my.twice" %a {decomposition = @twice} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %same = stablehlo.custom_call @Sharding(%twice, %shape) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %sums, %top#0, %top#1, %bits#1, %halves, %twice, %same : tensor<?x2xf32>, tensor<2x?xf32>, tensor<2x?xi32>, tensor<?x?xui32>, tensor<?x?x2xui16>, tensor<?x2xf32>, tensor<?x2xf32>
}

func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

func.func private @twice(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.composite "my.same" %a {decomposition = @same} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = stablehlo.add %0, %0 : tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

func.func private @same(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  return %a : tensor<?x2xf32>
}
