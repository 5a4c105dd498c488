// An op of a foreign dialect that its dialect has other ops for: on one device and on several, with
// shardings through what they are.
// RUN: terrazzo run %s --load-dialect %kernel_dialect --dump program 2>&1 | FileCheck %s
// RUN: terrazzo run %s --load-dialect %kernel_dialect --mesh mesh=x=1 --dump program 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed 's/"kern.double"(%0)/"broken.parts"(%0) {break = "stands for itself"}/' %s | not terrazzo run - --load-dialect %kernel_dialect --load-dialect %broken_dialect 2>&1 | FileCheck %s --check-prefix=ITSELF
// RUN: sed 's/"kern.double"(%0)/"broken.parts"(%0) {break = "makes itself"}/' %s | not terrazzo run - --load-dialect %kernel_dialect --load-dialect %broken_dialect 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: sed 's/"kern.double"(%0)/"broken.parts"(%0)/' %s | not terrazzo run - --load-dialect %kernel_dialect --load-dialect %broken_dialect 2>&1 | FileCheck %s --check-prefix=ITSELF
// RUN: terrazzo opt %s --load-dialect %kernel_dialect --sdy-propagation-pipeline | FileCheck %s --check-prefix=PASSES

// CHECK-NOT: kern.double
// CHECK: stablehlo.add: loop [2] {{.*}}[[S:v[0-9]+]]:f32=add {{.*}}=add [[S]] [[S]];
// CHECK-NOT: kern.double
// ONE-NOT: kern.double
// ONE: stablehlo.add: loop [4] {{.*}}[[S:v[0-9]+]]:f32=add {{.*}}=add [[S]] [[S]];
// ITSELF: error: 'broken.parts' op method 'decompose' of its dialect answers with what cannot stand for result 0
// ENDLESS: error: 'broken.parts' op method 'decompose' of its dialect makes the same op again
// PASSES: "kern.double"(%{{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
sdy.mesh @mesh = <["x"=2]>
func.func @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.iota dim = 0 : tensor<4xf32>
  %1 = "kern.double"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "kern.double"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
