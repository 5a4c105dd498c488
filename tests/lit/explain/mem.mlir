// What a device needs, and what is there when most is.
// RUN: terrazzo mem %s | FileCheck %s
// RUN: not terrazzo mem %s --budget 639 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: terrazzo mem %s --budget 640B --most 1 | FileCheck %s --check-prefix=FITS

// CHECK: of each of 2 devices:
// CHECK-NEXT: arguments   384 B (384)
// CHECK-NEXT: results     128 B (128)
// CHECK-NEXT: workspace   128 B (128)
// CHECK-NEXT: in all      640 B (640)
// CHECK-NEXT: constants   0 B (0)
// CHECK-NEXT: peak of the workspace: 128 B alive at step 0 of 2, stablehlo.dot_general at {{.*}}mem.mlir:[[@LINE+17]]:
// CHECK-NEXT: then there are
// CHECK-NEXT:   256 B f32 argument 1 'w', [{}, {}]
// CHECK-NEXT:   128 B f32 argument 0, [{"x"}, {}]
// CHECK-NEXT:   128 B f32 result 0, [{"x"}, {}]
// CHECK-NEXT:   128 B f32 temporary of stablehlo.dot_general at {{.*}}mem.mlir:{{.*}}, [{"x"}, {}]

// OVER: mem.mlir: a device needs 640 bytes, which is 1 more than --budget
// FITS: then there are
// FITS-NEXT: 256 B
// FITS-NEXT: and {{[0-9]+}} more

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("w"))
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.sine %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
