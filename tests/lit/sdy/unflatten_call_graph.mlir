// Copies of a function become one: those with equal shardings, or all of them, and then the copy
// whose shardings are called most often stands for all; of several such, the first to get there.
// RUN: terrazzo opt %s -sdy-unflatten-call-graph -symbol-dce | FileCheck %s
// RUN: terrazzo opt %s -sdy-unflatten-call-graph='dedup-functions-fully=true' -symbol-dce | FileCheck %s --check-prefix=FULLY

sdy.mesh @mesh = <["a"=2]>

// CHECK-LABEL: func @main
// CHECK-NEXT:    call @f(
// CHECK-NEXT:    call @f_0(
// CHECK-NEXT:    call @f_0(
// CHECK-NEXT:    call @f(
// CHECK-NEXT:    call @g(
// CHECK-NOT:   original_func_name
// FULLY-LABEL: func @main
// FULLY-NEXT:    call @f_1(
// FULLY-NEXT:    call @f_1(
// FULLY-NEXT:    call @f_1(
// FULLY-NEXT:    call @f_1(
// FULLY-NEXT:    call @g(
// FULLY-NEXT:    return
// FULLY-NOT:   func private @f(
// FULLY-NOT:   func private @f_0
// FULLY:       func private @f_1(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
// FULLY:       func private @g
func.func @main(%arg0: tensor<8xf32>) {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f_0(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f_1(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @f_2(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = call @g(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
func.func private @f_0(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}
func.func private @f_1(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}
func.func private @f_2(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %arg0 : tensor<8xf32>
}
func.func private @g(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}
