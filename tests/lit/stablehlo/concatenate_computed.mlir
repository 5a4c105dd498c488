// What is computed and then put together in turn is computed in one loop; so is what is computed on
// the way to a concatenation that is only computed on, and of each box what is right for it.
// RUN: terrazzo run %s --dump program --random-input 2>&1 | FileCheck %s

func.func @main(%x: tensor<64x128xf32>, %c: tensor<64x64xf32>) -> (tensor<64x64x2xf32>, tensor<64x128xf32>) {
  %even = stablehlo.slice %x [0:64, 0:128:2] : (tensor<64x128xf32>) -> tensor<64x64xf32>
  %odd = stablehlo.slice %x [0:64, 1:128:2] : (tensor<64x128xf32>) -> tensor<64x64xf32>
  %0 = stablehlo.multiply %even, %c : tensor<64x64xf32>
  %1 = stablehlo.subtract %0, %odd : tensor<64x64xf32>
  %2 = stablehlo.multiply %odd, %c : tensor<64x64xf32>
  %3 = stablehlo.add %2, %even : tensor<64x64xf32>
  %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<64x64xf32>) -> tensor<64x64x1xf32>
  %5 = stablehlo.reshape %3 : (tensor<64x64xf32>) -> tensor<64x64x1xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 2 : (tensor<64x64x1xf32>, tensor<64x64x1xf32>) -> tensor<64x64x2xf32>

  %a = stablehlo.slice %x [0:64, 0:48] : (tensor<64x128xf32>) -> tensor<64x48xf32>
  %b = stablehlo.slice %x [0:64, 48:128] : (tensor<64x128xf32>) -> tensor<64x80xf32>
  %n = stablehlo.negate %a : tensor<64x48xf32>
  %7 = stablehlo.concatenate %n, %b, dim = 1 : (tensor<64x48xf32>, tensor<64x80xf32>) -> tensor<64x128xf32>
  %8 = stablehlo.concatenate %b, %n, dim = 1 : (tensor<64x80xf32>, tensor<64x48xf32>) -> tensor<64x128xf32>
  %9 = stablehlo.subtract %7, %8 : tensor<64x128xf32>

  %one = stablehlo.constant dense<1.0> : tensor<64x128xf32>
  %least = stablehlo.constant dense<-1.0> : tensor<64x128xf32>
  %left = stablehlo.constant dense<48> : tensor<64x128xi32>
  %right = stablehlo.constant dense<80> : tensor<64x128xi32>
  %i = stablehlo.iota dim = 1 : tensor<64x128xi32>
  %10 = stablehlo.compare LT, %i, %left : (tensor<64x128xi32>, tensor<64x128xi32>) -> tensor<64x128xi1>
  %11 = stablehlo.select %10, %least, %one : tensor<64x128xi1>, tensor<64x128xf32>
  %12 = stablehlo.compare LT, %i, %right : (tensor<64x128xi32>, tensor<64x128xi32>) -> tensor<64x128xi1>
  %13 = stablehlo.select %12, %one, %least : tensor<64x128xi1>, tensor<64x128xf32>
  %14 = stablehlo.multiply %x, %11 : tensor<64x128xf32>
  %15 = stablehlo.concatenate %b, %a, dim = 1 : (tensor<64x80xf32>, tensor<64x48xf32>) -> tensor<64x128xf32>
  %16 = stablehlo.multiply %15, %13 : tensor<64x128xf32>
  %17 = stablehlo.subtract %14, %16 : tensor<64x128xf32>
  check.expect_eq %9, %17 : tensor<64x128xf32>
  return %6, %9 : tensor<64x64x2xf32>, tensor<64x128xf32>
}
// CHECK: stablehlo.subtract: loop [64,48] in %0[128,1] %0+48[128,1] out %3[128,1] { v0:f32=load 0; v1:f32=neg v0;
// CHECK-NEXT: stablehlo.subtract: loop [64,32] in %0+48[128,1] %0+96[128,1] out %3+48[128,1]
// CHECK-NEXT: stablehlo.subtract: loop [64,48] in %0+80[128,1] %0[128,1] out %3+80[128,1] { v0:f32=load 0; v1:f32=load 1; v2:f32=neg v1;
// CHECK: stablehlo.concatenate: loop [64,64,1] in %0[128,2,0] %1[64,1,0] %0+1[128,2,0] out %2[128,2,1] %2+1[128,2,1]
// CHECK-NOT: {{^@}}
