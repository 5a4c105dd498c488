// Grids of several sizes in one program: devices beyond one's last take no part in it. Shardy's tool
// does not know this dialect, and prints its ops as it would those of any other.
// RUN: stablehlo-translate --interpret %s | FileCheck %s
// RUN: sdy_opt %s -allow-unregistered-dialect | FileCheck %s --check-prefix=OPT

// CHECK: [3, 5]
// CHECK: tensor<i64> {6}
// CHECK: [5, 9]
// OPT: "interpreter.run_parallel"(%{{.*}}) {programs = {{.*}}} :
func.func private @sum(%a: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @ids() -> tensor<i64> {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
  %2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %s = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<i64>) -> tensor<i64>
  return %2 : tensor<i64>
}
func.func @main() -> (tensor<2xi32>, tensor<i64>, tensor<2xi32>) {
  %a = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %b = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum, @sum]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  %s:4 = "interpreter.run_parallel"() {programs = [[@ids, @ids, @ids, @ids]]} : () -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
  %t:2 = "interpreter.run_parallel"(%r#1, %b) {programs = [[@sum, @sum]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  return %r#0, %s#3, %t#0 : tensor<2xi32>, tensor<i64>, tensor<2xi32>
}
