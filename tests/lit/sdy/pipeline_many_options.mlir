// A pipeline hands every option down that a step of it knows, however often one was given before.
// RUN: terrazzo opt %s -sdy-propagation-pipeline='conservative-propagation=false conservative-propagation=false conservative-propagation=false conservative-propagation=false conservative-propagation=false conservative-propagation=false conservative-propagation=false conservative-propagation=false debug-sharding-origins=true' | FileCheck %s
// RUN: not terrazzo opt %s -sdy-user-priority-propagate=dump-index=1 2>&1 | FileCheck %s --check-prefix=OWN

sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.negate {{.*}}sdy.sharding_origins = [{x = "input: 0"}]
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// OWN: no such option dump-index
