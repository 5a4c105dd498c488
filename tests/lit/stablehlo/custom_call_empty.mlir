// stablehlo.custom_call without elements in its results, for which no function is needed.
// RUN: stablehlo-translate --interpret %s | FileCheck %s
// CHECK: tensor<0x2xf32>
// CHECK: tensor<0x2xi1>
func.func @main() -> (tensor<0x2xf32>, tensor<0x2xi1>) {
  %x = stablehlo.constant dense<1.0> : tensor<0x2xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %y, %info = stablehlo.custom_call @nobody(%x) {api_version = 4 : i32} : (tensor<0x2xf32>) -> (tensor<0x2xf32>, tensor<i32>)
  %ok = stablehlo.compare EQ, %info, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %all = stablehlo.broadcast_in_dim %ok, dims = [] : (tensor<i1>) -> tensor<0x2xi1>
  %z = stablehlo.select %all, %y, %x : tensor<0x2xi1>, tensor<0x2xf32>
  return %z, %all : tensor<0x2xf32>, tensor<0x2xi1>
}
