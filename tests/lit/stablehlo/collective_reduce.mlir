// Only the root of a group keeps what its members make; the root may be a value.
// RUN: stablehlo-translate --interpret -split-input-file %s

func.func private @f(%a: tensor<2xf32>, %b: tensor<f32>, %root: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<f32>) {
  %0 = "stablehlo.collective_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[1, 0], [2, -1]]> : tensor<2x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  %1:2 = "stablehlo.collective_reduce"(%a, %b, %root) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, has_dynamic_root} : (tensor<2xf32>, tensor<f32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<f32>)
  return %0, %1#0, %1#1 : tensor<2xf32>, tensor<2xf32>, tensor<f32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
  %b = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = stablehlo.constant dense<[4.0, 5.0]> : tensor<2xf32>
  %n = stablehlo.constant dense<7.0> : tensor<f32>
  %root = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %r:9 = "interpreter.run_parallel"(%a, %n, %root, %b, %n, %root, %c, %n, %root) {programs = [[@f], [@f], [@f]]}
    : (tensor<2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xf32>, tensor<f32>, tensor<2xi32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>)
  check.expect_eq_const %r#0, dense<0.0> : tensor<2xf32>
  check.expect_eq_const %r#3, dense<[3.0, 0x7F800000]> : tensor<2xf32>
  check.expect_eq %r#6, %c : tensor<2xf32>
  check.expect_eq_const %r#1, dense<0.0> : tensor<2xf32>
  check.expect_eq_const %r#7, dense<[4.0, 0x7F800000]> : tensor<2xf32>
  check.expect_eq_const %r#2, dense<0.0> : tensor<f32>
  check.expect_eq_const %r#5, dense<7.0> : tensor<f32>
  return
}

// -----

// So may that of a broadcast, over partitions here.
func.func private @g(%a: tensor<2xf32>, %b: tensor<i64>, %root: tensor<2xi32>) -> (tensor<2xf32>, tensor<i64>) {
  %0:2 = "stablehlo.collective_broadcast"(%a, %b, %root) {
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, has_dynamic_root,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<2xf32>, tensor<i64>, tensor<2xi32>) -> (tensor<2xf32>, tensor<i64>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<i64>
}
func.func @main() {
  %a = stablehlo.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %b = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %m = stablehlo.constant dense<7> : tensor<i64>
  %n = stablehlo.constant dense<8> : tensor<i64>
  %root = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %r:4 = "interpreter.run_parallel"(%a, %m, %root, %b, %n, %root) {programs = [[@g, @g]]}
    : (tensor<2xf32>, tensor<i64>, tensor<2xi32>, tensor<2xf32>, tensor<i64>, tensor<2xi32>) -> (tensor<2xf32>, tensor<i64>, tensor<2xf32>, tensor<i64>)
  check.expect_eq %r#0, %b : tensor<2xf32>
  check.expect_eq %r#2, %b : tensor<2xf32>
  check.expect_eq_const %r#1, dense<7> : tensor<i64>
  check.expect_eq_const %r#3, dense<7> : tensor<i64>
  return
}
