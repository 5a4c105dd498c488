// Devices merge what each of them has sorted, which takes three comparisons an element, and that is
// what a program of it is said to cost: 131072 / 8 * 14 + 131072 * 3.
// RUN: terrazzo run %s --devices 8 --dump program --dry-run 2>&1 | FileCheck %s
// RUN: terrazzo run %s --devices 8 --dry-run --json | FileCheck %s --check-prefix=COST

// CHECK: sort [1,16384,1] %
// CHECK: sort [1,131072,1] runs 8 %
// COST: "flops": 622592

sdy.mesh @mesh = <["x"=8]>
func.func @main(%arg0: tensor<131072xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<131072xi32> {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
    %1 = stablehlo.compare LT, %arg1, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<131072xi32>) -> tensor<131072xi32>
  return %0 : tensor<131072xi32>
}
