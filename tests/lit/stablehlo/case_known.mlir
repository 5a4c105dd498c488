// Of a case whose index is a constant only the branch that it takes is compiled, in its place; an
// index out of range takes the last one.
// RUN: terrazzo run %s --dry-run --dump program 2>&1 | FileCheck %s

// CHECK: loop [8] in %0[1] out %1[1] %2[1] { v0:f32=load 0; v1:f32=neg v0; v2:f32=sin v1; {{.*}}out0=v2; out1=v3; }
// CHECK-NOT: case
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %far = stablehlo.constant dense<-7> : tensor<i32>
  %0 = "stablehlo.case"(%one) ({
    stablehlo.return %a : tensor<8xf32>
  }, {
    %1 = stablehlo.negate %a : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    %1 = stablehlo.tanh %a : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  %2:2 = "stablehlo.case"(%far) ({
    stablehlo.return %a, %a : tensor<8xf32>, tensor<8xf32>
  }, {
    %3 = stablehlo.sine %0 : tensor<8xf32>
    %4 = stablehlo.cosine %0 : tensor<8xf32>
    stablehlo.return %3, %4 : tensor<8xf32>, tensor<8xf32>
  }) : (tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %2#0, %2#1 : tensor<8xf32>, tensor<8xf32>
}
