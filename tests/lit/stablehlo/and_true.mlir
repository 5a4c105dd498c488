// A mask that says nothing is left out of those that it is put together with: no array of it is made.
// RUN: terrazzo run %s --dump program --dry-run 2>&1 | FileCheck %s

// CHECK: @0 stablehlo.select: loop [3,4,5] in %0[0,5,1] %1[20,5,1] out %{{[0-9]+}}[20,5,1] { v0:i1=load 0; v1:f32=load 1; v2:f32=constant -1; v3:f32=select v0 v1 v2; out0=v3; }
// CHECK-NEXT: @1 stablehlo.convert: loop [4,5] in %0[5,1] out %{{[0-9]+}}[5,1] { v0:i1=load 0; v1:i32=convert v0; out0=v1; }
// CHECK-NEXT: @2 stablehlo.and: loop [4,5] in %0[5,1] out %{{[0-9]+}}[5,1] { v0:i1=load 0; v1:i1=constant 0x0; v2:i1=and v0 v1; out0=v2; }
// CHECK-NOT: @3
func.func @main(%m: tensor<4x5xi1>, %x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<4x5xi32>, tensor<4x5xi1>) {
  %true = stablehlo.constant dense<true> : tensor<3x4x5xi1>
  %false = stablehlo.constant dense<false> : tensor<4x5xi1>
  %low = stablehlo.constant dense<-1.0> : tensor<3x4x5xf32>
  %mm = stablehlo.broadcast_in_dim %m, dims = [1, 2] : (tensor<4x5xi1>) -> tensor<3x4x5xi1>
  %a = stablehlo.and %true, %mm : tensor<3x4x5xi1>
  %b = stablehlo.select %a, %x, %low : tensor<3x4x5xi1>, tensor<3x4x5xf32>
  %c = stablehlo.or %m, %false : tensor<4x5xi1>
  %d = stablehlo.convert %c : (tensor<4x5xi1>) -> tensor<4x5xi32>
  %e = stablehlo.and %m, %false : tensor<4x5xi1>
  return %b, %d, %e : tensor<3x4x5xf32>, tensor<4x5xi32>, tensor<4x5xi1>
}
