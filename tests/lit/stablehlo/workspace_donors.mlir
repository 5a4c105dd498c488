// %s takes the place of what it reads that ends there: not that of the first, which is in the memory
// of the result that %s is needed for, but that of the second.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: workspace 16384
// CHECK: sort
// CHECK-NEXT: stablehlo.add: loop {{.*}} in %[[Z:[0-9]+]][{{.*}}] %[[Y:[0-9]+]][{{.*}}] out %[[S:[0-9]+]][
// CHECK-NEXT: dot {{.*}} %[[S]][
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = "stablehlo.sort"(%q) <{dimension = 1 : i64}> ({
  ^bb0(%l: tensor<f32>, %g: tensor<f32>):
    %less = stablehlo.compare LT, %l, %g : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = stablehlo.add %z, %y : tensor<64x64xf32>
  %r = stablehlo.dot_general %a, %s, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
