// Functions at once, a device each; what they give, and who says what.
// RUN: stablehlo-translate --interpret -split-input-file %s > %t.out
// RUN: FileCheck %s < %t.out
// RUN: terrazzo ops interpreter.run_parallel | FileCheck %s --check-prefix=OPS

// OPS: interpreter.run_parallel {{.*}}yes

// One function on six devices. What @main prints is printed once.
// CHECK-COUNT-1: %c = tensor<i32> {7}
// CHECK: tensor<ui32> {2}
func.func private @ids(%a: tensor<i32>) -> (tensor<ui32>, tensor<ui32>, tensor<i32>) {
  %0 = stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.partition_id : tensor<ui32>
  %2 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
  return %0, %1, %2 : tensor<ui32>, tensor<ui32>, tensor<i32>
}
func.func @main() -> tensor<ui32> {
  %a = stablehlo.constant dense<7> : tensor<i32>
  interpreter.print %a : tensor<i32>
  %b = stablehlo.constant dense<10> : tensor<i32>
  %r:18 = "interpreter.run_parallel"(%a, %a, %a, %b, %b, %a) {
    programs = [[@ids, @ids, @ids], [@ids, @ids, @ids]]
  } : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<ui32>, tensor<ui32>, tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<i32>)
  check.expect_eq_const %r#0, dense<0> : tensor<ui32>
  check.expect_eq_const %r#2, dense<17> : tensor<i32>
  check.expect_eq_const %r#8, dense<14> : tensor<i32>
  check.expect_eq_const %r#15, dense<1> : tensor<ui32>
  check.expect_eq_const %r#17, dense<14> : tensor<i32>
  return %r#16 : tensor<ui32>
}

// -----

// Two functions on three devices; the first two meet in @f. Both print.
// CHECK: %0 = tensor<2xi32> {
// CHECK: %0 = tensor<2xi32> {
// CHECK: tensor<2xi32> {
// CHECK-NEXT: [4, 6]
func.func private @f(%a: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %a, %a : tensor<2xi32>
  interpreter.print %0 : tensor<2xi32>
  %1 = "stablehlo.all_reduce"(%0) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 2], [1, -1]]> : tensor<2x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}
func.func private @g() -> tensor<f32> {
  %0 = stablehlo.constant dense<3.0> : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main() -> tensor<2xi32> {
  %a = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %b = stablehlo.constant dense<2> : tensor<2xi32>
  %r:3 = "interpreter.run_parallel"(%a, %b) {programs = [[@f], [@g], [@f]]}
    : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<f32>, tensor<2xi32>)
  check.expect_eq %r#0, %r#2 : tensor<2xi32>
  check.expect_eq_const %r#1, dense<3.0> : tensor<f32>
  return %r#0 : tensor<2xi32>
}

// -----

// A group over replicas and partitions: all replicas of one partition, then those of the next.
func.func private @h(%a: tensor<1xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.all_gather"(%a) {
    all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<1xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @main() {
  %0 = stablehlo.constant dense<0> : tensor<1xi32>
  %1 = stablehlo.constant dense<1> : tensor<1xi32>
  %2 = stablehlo.constant dense<2> : tensor<1xi32>
  %3 = stablehlo.constant dense<3> : tensor<1xi32>
  %r:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@h, @h], [@h, @h]]}
    : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %r#0, dense<[0, 2, 1, 3]> : tensor<4xi32>
  return
}

// -----

// Operands of two shapes.
func.func private @exchange(%a: tensor<2xi32>, %b: tensor<4xi32>) -> (tensor<2xi32>, tensor<4xi32>) {
  %0:2 = "stablehlo.all_to_all"(%a, %b) {
    split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2xi32>, tensor<4xi32>) -> (tensor<2xi32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<2xi32>, tensor<4xi32>
}
func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %2 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %3 = stablehlo.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %r:4 = "interpreter.run_parallel"(%0, %2, %1, %3) {programs = [[@exchange], [@exchange]]}
    : (tensor<2xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>) -> (tensor<2xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>)
  check.expect_eq_const %r#0, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %r#3, dense<[3, 4, 7, 8]> : tensor<4xi32>
  return
}
