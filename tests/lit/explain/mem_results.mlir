// Temporaries lie in the buffers of results that are not written yet, which are written as late as
// what they are made of allows. A sort is in place.
// RUN: terrazzo mem %s | FileCheck %s
// RUN: terrazzo run %s --random-input --dry-run --dump program 2>&1 | FileCheck %s --check-prefix=PLAN

// CHECK: of each of 1 devices:
// CHECK: results     32.0 KiB (32768)
// CHECK-NEXT: workspace   0 B (0)

// PLAN: program: 1 x 1 devices, workspace 0
// PLAN-DAG: = work at 0 of result
// PLAN: sort [1,4096,1] %[[A:[0-9]+]] -> %[[B:[0-9]+]]
// PLAN: stablehlo.negate

func.func @main(%a: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
  %0 = stablehlo.negate %a : tensor<4096xf32>
  %1 = stablehlo.sine %a : tensor<4096xf32>
  %2 = "stablehlo.sort"(%1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %5 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4096xf32>) -> tensor<4096xf32>
  %3 = stablehlo.reverse %2, dims = [0] : tensor<4096xf32>
  %4 = "stablehlo.sort"(%3) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %5 = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4096xf32>) -> tensor<4096xf32>
  return %0, %4 : tensor<4096xf32>, tensor<4096xf32>
}
