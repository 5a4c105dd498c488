// Single ops become manual computations of what a device runs of them: all that are sharded, or
// those whose names or numbers are given; the same within the export pipeline.
// RUN: terrazzo opt %s -split-input-file -verify-diagnostics -sdy-per-instruction-partitioning | FileCheck %s
// RUN: terrazzo opt %s -split-input-file -sdy-per-instruction-partitioning='filter="selectLow=1, selectHigh=1, reverse"' | FileCheck %s --check-prefix=SECOND

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Neighbours exchange within the computation; the mesh that a reverse makes up is gone again.
// CHECK-NOT: reversed
// CHECK-LABEL: func.func @two(
// SECOND-LABEL: func.func @two(
func.func @two(%arg0: tensor<6x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<i32>) -> tensor<5x3xi32> {
  // CHECK: %[[M:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<3x3xi32>) {
  // CHECK: "stablehlo.collective_permute"
  // CHECK: stablehlo.dynamic_slice
  // CHECK: sdy.return %{{.*}} : tensor<3x3xi32>
  // CHECK: } : (tensor<6x3xi32>) -> tensor<6x3xi32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.slice %[[M]] [0:5, 0:3] {{.*}}<@mesh, [{"x"}, {}]>
  // CHECK: %[[P:.*]] = stablehlo.pad %[[S]]
  // CHECK: sdy.manual_computation(%[[P]])
  // CHECK: stablehlo.reverse %{{.*}}, dims = [1] : tensor<3x3xi32>
  // CHECK: %[[R:.*]] = stablehlo.slice {{.*}} -> tensor<5x3xi32>
  // CHECK-NEXT: stablehlo.add %arg1, %arg1 : tensor<i32>
  // CHECK-NEXT: return %[[R]]
  // SECOND-NEXT: stablehlo.slice %arg0 [1:6, 0:3]
  // SECOND: sdy.manual_computation
  %0 = stablehlo.slice %arg0 [1:6, 0:3] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<6x3xi32>) -> tensor<5x3xi32>
  %1 = stablehlo.reverse %0, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<5x3xi32>
  %2 = stablehlo.add %arg1, %arg1 : tensor<i32>
  return %1 : tensor<5x3xi32>
}

// -----

// CHECK-LABEL: func.func @turned(
// CHECK-NOT: reversed
sdy.mesh @mesh = <["x"=2]>
func.func @turned(%arg0: tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xi32> {
  // CHECK: sdy.manual_computation(%arg0)
  // CHECK-NEXT: stablehlo.reverse %arg1, dims = [0] : tensor<3xi32>
  // CHECK-NEXT: "stablehlo.collective_permute"{{.*}} dense<{{\[\[}}0, 1], [1, 0]]>
  %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<6xi32>
  return %0 : tensor<6xi32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["z"=2]>
func.func @meshes(%arg0: tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xi32> {
  %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<6xi32>
  // expected-error @+1 {{'stablehlo.negate' op has values on different meshes}}
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"z"}]>]>} : tensor<6xi32>
  return %1 : tensor<6xi32>
}
