// An update of all that there is needs no place of its own.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: program: {{.*}} workspace 0
// CHECK: dot_general: dot {{.*}} -> %4[64,1,0]
// CHECK-NOT: copy
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>, %i: tensor<i32>) -> tensor<64x64xf32> {
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = stablehlo.dynamic_update_slice %o, %d, %i, %i : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
