// What a collective serves, and the way back to the annotation that asks for it.
// RUN: terrazzo why %s | FileCheck %s
// RUN: terrazzo why %s --collective 1 --tries 3 | FileCheck %s --check-prefix=ONE
// RUN: terrazzo why %s --value %%arg1 | FileCheck %s --check-prefix=VALUE
// RUN: terrazzo why --help | FileCheck %s --check-prefix=HELP

// CHECK: #1 all_gather along "y", 2 devices: 128 B a device
// CHECK-NEXT:   for func.return at {{.*}}why.mlir:[[@LINE+22]]:
// CHECK-NEXT:   because value 0 that is returned is to be under another sharding
// CHECK-NEXT:     "y" along dimension 1 of sine at {{.*}}
// CHECK-NEXT:       from dot_general at {{.*}}
// CHECK-NEXT:       from argument 1, which is annotated: [{}, {"y"}]
// CHECK: 1 collective; a device sends 128 B

// ONE: #1 all_gather
// ONE: could drop "y" from argument 1: 128 B -> 0 B in all, without this collective

// VALUE: argument 1: [{}, {"y"}]

// HELP: usage: terrazzo why FILE
// HELP: examples:

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.sine %0 : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
