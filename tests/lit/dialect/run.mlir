// An op of a foreign dialect runs by the handler of its name, on every device, and so does a custom
// call of that name, whose dictionary is the op's attributes.
// RUN: terrazzo run %s --load-dialect %kernel_dialect --dump program 2>&1 | FileCheck %s
// RUN: not terrazzo run %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not terrazzo run %s --load-dialect %old_dialect 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK: kern.scale: call host kern.scale %{{[0-9]+}}[2] -> %{{[0-9]+}}[2] params[0]
// CHECK: kern.scale: call host kern.scale %{{[0-9]+}}[2] -> %{{[0-9]+}}[2] params[1]
// NONE: run.mlir:{{.*}}: error: 'kern.scale' op is not implemented
// OLD: error: --load-dialect: dialect '{{.*}}' was built for version
sdy.mesh @mesh = <["x"=2]>
func.func @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.iota dim = 0 : tensor<4xf32>
  %1 = "kern.scale"(%0) <{factor = 2.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @kern.scale(%1) {backend_config = {factor = -1.0 : f32}, api_version = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
